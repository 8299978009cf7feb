/// A row in the first transaction of a log, which identifies the database that the log continues.
///
/// A log is identified by its salts, which SQLite changes whenever it restarts the log:
/// <https://sqlite.org/fileformat2.html#walformat>.
struct LogLink: Hashable {
  /// The log that the row was written to.
  let log: [UInt8]
  /// The log to which the database's earlier row was written; zeros if there was none.
  let previous: [UInt8]
  /// The digest of the database's header before the log began; zeros in a later transaction.
  let header: [UInt8]

  static let table = "_ms_log"
  static let saltsByteCount = 8
  static let none = [UInt8](repeating: 0, count: saltsByteCount)
  /// The size of SQLite's header of a database file:
  /// <https://sqlite.org/fileformat2.html#the_database_header>.
  static let headerByteCount = 100

  private static let magic = Array("ms\u{1}Log\u{2}\n".utf8)
  private static let digestByteCount = 16
  private static let sumByteCount = 8
  private static let byteCount = 48

  /// Whether the row was written by the log's first transaction.
  var isFirst: Bool { header.contains { $0 != 0 } }

  init(log: [UInt8], previous: LogLink?, header: [UInt8]?) {
    self.log = log
    self.previous = previous?.log ?? Self.none
    self.header = header ?? [UInt8](repeating: 0, count: Self.digestByteCount)
  }

  init?(_ content: some Collection<UInt8>) {
    let bytes = Array(content)
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
    log = Array(bytes[8..<16])
    previous = Array(bytes[16..<24])
    header = Array(bytes[24..<40])
    guard bytes == self.bytes else { return nil }
  }

  /// The content of the row: 48 bytes, so that SQLite stores it in one piece in a page of 512
  /// bytes.
  var bytes: [UInt8] {
    let content = Self.magic + log + previous + header
    return content + Self.digest(of: content, byteCount: Self.sumByteCount)
  }

  static func digest(ofHeader header: [UInt8]) -> [UInt8] {
    digest(of: header, byteCount: digestByteCount)
  }

  private static func digest(of bytes: [UInt8], byteCount: Int) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return Array(hash.finish().prefix(byteCount))
  }

  /// Returns every link in a page, whatever else the page contains.
  static func links(in page: ArraySlice<UInt8>) -> [LogLink] {
    var links: [LogLink] = []
    var rest = page
    while let start = rest.firstIndex(of: magic[0]), rest.endIndex - start >= byteCount {
      let candidate = rest[start..<start + byteCount]
      if candidate.starts(with: magic), let link = LogLink(candidate) { links.append(link) }
      rest = rest[(start + 1)...]
    }
    return links
  }
}
