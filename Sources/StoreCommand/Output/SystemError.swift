#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the operating system answered: an `errno` value.
struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  let number: Int32

  /// The error that the last call left behind; read it before any other call.
  static var last: SystemError { SystemError(number: errno) }

  /// Whether a path led nowhere.
  var isNoSuchFile: Bool { number == ENOENT }

  /// The system's sentence for the number, such as "No space left on device".
  var description: String { String(cString: strerror(number)) }
}
