internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The header and first frame of a write-ahead log that SQLite would apply to its database.
///
/// <https://sqlite.org/fileformat2.html#walformat>
struct LogHeader: Hashable {
  /// Returns the bytes of a log from an offset, or fewer at the end.
  typealias Bytes = (_ offset: Int, _ count: Int) -> [UInt8]

  let pageSize: Int
  /// The salts that distinguish this log from earlier logs of the file.
  let salts: [UInt8]
  private let sum: Checksum

  static let byteCount = 32
  /// <https://sqlite.org/rescode.html#ioerr_short_read>
  static let shortRead = SQLITE_IOERR | (2 << 8)
  private static let frameHeaderByteCount = 24
  /// How much of a log is read for its first transaction. A longer transaction is not compared.
  private static let transactionByteCountMax = 64 << 20

  /// Reads a log: its header and its first frame.
  ///
  /// - Returns: nil if SQLite would ignore the log, because it has no valid header or no valid
  ///   frame.
  init?(reading bytes: Bytes) {
    let header = bytes(0, Self.byteCount)
    guard header.count == Self.byteCount else { return nil }
    let magic = Self.word(header, at: 0)
    guard magic & ~1 == 0x377F_0682 else { return nil }
    pageSize = Int(Self.word(header, at: 8))
    guard pageSize.nonzeroBitCount == 1, (512...65_536).contains(pageSize) else { return nil }
    salts = Array(header[16..<24])
    var sum = Checksum(isBigEndian: magic & 1 == 1)
    sum.add(header[..<24])
    guard sum.matches(header, at: 24) else { return nil }
    self.sum = sum
    guard validFrame(0, &sum, bytes) != nil else { return nil }
  }

  /// Returns the link to the database in the log's first transaction.
  ///
  /// - Returns: nil if no store began the log, or if the transaction has no end.
  func link(reading bytes: Bytes) -> LogLink? {
    var sum = sum
    var link: LogLink?
    for number in 0..<Self.transactionByteCountMax / pageSize {
      guard let frame = validFrame(number, &sum, bytes) else { return nil }
      link =
        LogLink.links(in: frame[Self.frameHeaderByteCount...])
        .last { $0.log == salts && $0.isFirst } ?? link
      if Self.word(frame, at: 4) != 0 { return link }
    }
    return nil
  }

  /// Whether the log contains a database header with this digest.
  func holds(header digest: [UInt8], reading bytes: Bytes) -> Bool {
    contains(LogLink.headerByteCount, bytes) { page, content in
      page == 1 && LogLink.digest(ofHeader: Array(content)) == digest
    }
  }

  /// Whether the log contains a link that was written to `log`.
  func holds(linkTo log: [UInt8], reading bytes: Bytes) -> Bool {
    contains(pageSize, bytes) { _, content in
      LogLink.links(in: content).contains { $0.log == log }
    }
  }

  /// Whether a frame of the log has a property. It continues where SQLite would stop, so it can
  /// only find more.
  ///
  /// - Parameter count: The number of bytes to read from each page.
  private func contains(
    _ count: Int, _ bytes: Bytes, _ isWanted: (_ page: UInt32, ArraySlice<UInt8>) -> Bool
  ) -> Bool {
    var number = 0
    while true {
      let frame = bytes(offset(ofFrame: number), Self.frameHeaderByteCount + count)
      guard frame.count == Self.frameHeaderByteCount + count, isOfThisLog(frame) else {
        return false
      }
      if isWanted(Self.word(frame, at: 0), frame[Self.frameHeaderByteCount...]) { return true }
      number += 1
    }
  }

  private func offset(ofFrame number: Int) -> Int {
    Self.byteCount + number * (Self.frameHeaderByteCount + pageSize)
  }

  private func isOfThisLog(_ frame: [UInt8]) -> Bool { frame[8..<16].elementsEqual(salts) }

  private func validFrame(_ number: Int, _ sum: inout Checksum, _ bytes: Bytes) -> [UInt8]? {
    let frame = bytes(offset(ofFrame: number), Self.frameHeaderByteCount + pageSize)
    guard frame.count == Self.frameHeaderByteCount + pageSize, isOfThisLog(frame) else {
      return nil
    }
    sum.add(frame[..<8])
    sum.add(frame[Self.frameHeaderByteCount...])
    return sum.matches(frame, at: 16) ? frame : nil
  }

  private static func word(_ bytes: [UInt8], at place: Int) -> UInt32 {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private struct Checksum: Hashable {
    let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) {
      self.isBigEndian = isBigEndian
    }

    /// - Precondition: The count of bytes is a multiple of 8.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
      bytes.withUnsafeBytes { bytes in
        for place in stride(from: 0, to: bytes.count, by: 8) {
          first &+= word(bytes, place) &+ second
          second &+= word(bytes, place + 4) &+ first
        }
      }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
      let value = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
      return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
    }

    func matches(_ bytes: [UInt8], at place: Int) -> Bool {
      LogHeader.word(bytes, at: place) == first && LogHeader.word(bytes, at: place + 4) == second
    }
  }
}

extension DatabaseFile {
  /// Rejects a log that cannot belong to the database, before SQLite applies it. If another process
  /// changes the files in the meantime, the comparison begins again. In the end the log is
  /// accepted.
  ///
  /// - Throws: ``Problem``, or ``SQLiteError`` if the database cannot be read.
  func checkLog(fileSystem: String?) throws {
    guard !isInMemory else { return }
    for _ in 0..<Self.comparisonCountMax {
      guard let log = try withLog({ LogHeader(reading: $0) }),
        let database = try UnloggedDatabase(path: path, fileSystem: fileSystem),
        let problem = try problem(log, database)
      else { return }
      // While the log is the same, SQLite copies only its contents into the database.
      guard try withLog({ LogHeader(reading: $0) }) != log else { throw problem }
    }
  }

  private static let comparisonCountMax = 3

  private func problem(
    _ log: LogHeader, _ database: UnloggedDatabase
  ) throws(Problem) -> Problem? {
    guard database.pageSize == log.pageSize else {
      return .foreignLog(path: path, logPageSize: log.pageSize, pageSize: database.pageSize)
    }
    let isContinued = try withLog { bytes in
      guard let link = log.link(reading: bytes) else { return true }
      let hasKnownHeader =
        database.header == link.header || log.holds(header: database.header, reading: bytes)
      guard hasKnownHeader, let last = database.link?.log else { return hasKnownHeader }
      return last == link.previous || last == log.salts
        || log.holds(linkTo: last, reading: bytes)
    }
    return isContinued == false ? .staleLog(path: path) : nil
  }

  /// Runs `body` with the bytes of the log beside the database.
  ///
  /// SQLite holds no locks on a log, so closing this descriptor releases none.
  ///
  /// - Returns: nil if there is no log.
  private func withLog<Result>(
    _ body: (LogHeader.Bytes) -> Result?
  ) throws(Problem) -> Result? {
    let logPath = path + "-wal"
    let descriptor = open(logPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let reason = errno
      // SQLite ignores an empty log, even if this user may not read it.
      if reason == ENOENT || reason == EACCES && Self.isEmptyFile(logPath) { return nil }
      throw .refused(path: logPath, errno: reason)
    }
    defer { close(descriptor) }
    return body { offset, count in
      var bytes = [UInt8](repeating: 0, count: count)
      let read = pread(descriptor, &bytes, count, off_t(offset))
      return Array(bytes.prefix(max(0, read)))
    }
  }

  private static func isEmptyFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_size == 0
  }
}

/// The contents of the database's own file, without its log.
private struct UnloggedDatabase {
  let pageSize: Int
  /// The digest of the file's header.
  let header: [UInt8]
  let link: LogLink?

  /// Reads through SQLite, which keeps the locks of other connections in the process. SQLite reads
  /// an immutable file without locks and without a log: <https://sqlite.org/uri.html#uriimmutable>.
  ///
  /// - Returns: nil for a file that is empty or not a database.
  init?(path: String, fileSystem: String?) throws(SQLiteError) {
    var opened: OpaquePointer?
    defer { sqlite3_close_v2(opened) }
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI
    let name = "file:\(Self.escaped(path))?immutable=1"
    let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_EXRESCODE, fileSystem)
    guard code == SQLITE_OK, let opened else { throw SQLiteError(code: code, database: opened) }
    ConnectionSafety.apply(to: opened)
    var header = [UInt8](repeating: 0, count: LogLink.headerByteCount)
    let result = csqlite_read_file(opened, &header, Int32(header.count))
    guard result != LogHeader.shortRead else { return nil }
    guard result == SQLITE_OK else { throw SQLiteError(code: result, database: opened) }
    guard header.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
    let stated = Int(header[16]) << 8 | Int(header[17])
    pageSize = stated == 1 ? 65_536 : stated
    self.header = LogLink.digest(ofHeader: header)
    link = Self.link(in: opened)
  }

  /// Returns the link in the database; nil if there is none or it cannot be read. If the file is
  /// unreadable, opening it fails later with the reason.
  private static func link(in database: OpaquePointer) -> LogLink? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = "SELECT link FROM main._ms_log WHERE id = 1"
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW,
      sqlite3_column_type(statement, 0) == SQLITE_BLOB
    else { return nil }
    let start = sqlite3_column_blob(statement, 0)
    let count = Int(sqlite3_column_bytes(statement, 0))
    return LogLink(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Returns `path` as a part of a URI.
  private static func escaped(_ path: String) -> String {
    path.utf8.map { byte in
      switch UnicodeScalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-": String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    .joined()
  }
}
