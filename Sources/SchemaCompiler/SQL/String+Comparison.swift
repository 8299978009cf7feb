#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// SQLite's comparison of texts and names.
extension String {
  /// Returns whether the bytes are the same. Swift's `==` also holds for canonically equivalent
  /// texts, which are different to SQLite.
  @usableFromInline package func isExactly(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let left = left.baseAddress, let right = right.baseAddress else { return true }
        return memcmp(left, right, other.utf8.count) == 0
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// The name with its ASCII letters in lower case. SQLite's names are equal when these are equal;
  /// letters beyond ASCII are case-sensitive.
  package var asciiFolded: String {
    guard utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return self }
    return String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
