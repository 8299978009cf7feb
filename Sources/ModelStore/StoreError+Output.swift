#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension StoreError {
  /// Writes the error as one line to standard error: what a store does with failures that no
  /// caller can be told about, unless it is opened with another `onError`.
  @Sendable public static func writeToStandardError(_ error: StoreError) {
    let line = "ModelStore: \(error)\n"
    // A failed write to standard error leaves nobody to tell.
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}
