#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An error of the operating system: an `errno` value.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The error of the last system call. Read it before any other call.
  package static var last: SystemError { SystemError(number: errno) }

  /// Whether a path does not exist.
  package var isNoSuchFile: Bool { number == ENOENT }

  /// The system's sentence for the number, such as "No space left on device".
  package var description: String { String(cString: strerror(number)) }
}
