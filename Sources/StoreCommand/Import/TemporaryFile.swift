import RecordFormats

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file without a name, gone when it is dropped.
final class TemporaryFile {
  /// Where it was made.
  let directory: String
  let descriptor: Int32

  init() throws(InputError) {
    directory = Terminal.temporaryDirectory
    var template = Array("\(directory)/storecli-input-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw InputError(.unkept(in: directory, .last), at: .start)
    }
    unlink(template)
  }

  deinit {
    close(descriptor)
  }
}
