#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where talk goes, so that standard output holds the table and nothing else.
enum StandardError {
  static func print(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { bytes in
      // Nobody is left to be told when standard error itself cannot be written to.
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
