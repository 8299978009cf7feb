import Foundation

/// The write-ahead log of a database as another program finds it.
enum LogFile {
  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// Returns the number of commits in the log of the database at `path`: the frames that end a
  /// transaction. Several writes in one of them share its sync.
  /// <https://sqlite.org/fileformat2.html#the_write_ahead_log>
  static func commitCount(of path: String) throws -> Int {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path + "-wal")))
    guard bytes.count >= headerSize else { return 0 }
    func number(at place: Int) -> UInt32 {
      bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let pageSize = Int(number(at: 8))
    let salts = (number(at: 16), number(at: 20))
    var count = 0
    var place = headerSize
    while place + frameHeaderSize + pageSize <= bytes.count {
      // Frames of an older log have other salts.
      guard (number(at: place + 8), number(at: place + 12)) == salts else { break }
      if number(at: place + 4) != 0 { count += 1 }
      place += frameHeaderSize + pageSize
    }
    return count
  }
}
