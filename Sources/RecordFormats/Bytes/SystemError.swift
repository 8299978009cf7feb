#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the operating system answered: an `errno` value.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The error that the last call left behind; read it before any other call.
  package static var last: SystemError { SystemError(number: errno) }

  /// Whether a path led nowhere.
  package var isNoSuchFile: Bool { number == ENOENT }

  /// The system's sentence for the number, such as "No space left on device".
  package var description: String { String(cString: strerror(number)) }
}
