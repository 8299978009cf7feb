import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file without a name, gone when it is dropped.
final class TemporaryFile: Sendable {
  let descriptor: Int32

  init(in directory: String) throws(InputError) {
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
