#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension StoreError {
  /// Writes the error as one line to standard error. This is the default `onError` of a store, for
  /// failures that no caller receives.
  @Sendable public static func writeToStandardError(_ error: StoreError) {
    let line = "ModelStore: \(error)\n"
    // A failed write to standard error cannot be reported anywhere.
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}
