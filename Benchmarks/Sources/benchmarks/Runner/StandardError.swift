#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Messages go here, so that standard output contains only the table.
enum StandardError {
  static func print(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { bytes in
      // A failed write to standard error cannot be reported anywhere.
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
