/// Damages the bytes of a database or of its log, as a disk, a program or an attacker would.
///
/// Half of the damage follows the file format (<https://sqlite.org/fileformat2.html>), because
/// random bytes mostly hit the content of records, where they do the least.
struct FileMutator {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  /// Damages `bytes` one to four times.
  mutating func mutate(_ bytes: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
      mutateOnce(&bytes)
    }
  }

  /// Damages a write-ahead log. In half of the logs the checksums are those of the damaged frames:
  /// SQLite ignores a frame with a wrong one, and with it all frames that follow.
  mutating func mutateLog(_ bytes: inout [UInt8]) {
    guard var log = LogImage(bytes), Bool.random(using: &generator) else { return mutate(&bytes) }
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let frame = Int.random(in: 0..<log.frameCount, using: &generator)
      // A page in a log is damaged as one of a file; only the first page has the file's header.
      var page = log.page(of: frame)
      let header = log.isFirstPage(frame) ? 100 : 0
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: set(&page, at: header + Int.random(in: 0..<12, using: &generator))
      case 1: set(&page, at: header + 8 + Int.random(in: 0..<64, using: &generator))
      case 2: damageText(&page)
      default: flipBytes(&page)
      }
      log.setPage(page, of: frame)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        log.setPageNumber(UInt32(Int.random(in: 0...60, using: &generator)), of: frame)
      }
    }
    bytes = log.sealed()
  }

  private mutating func mutateOnce(_ bytes: inout [UInt8]) {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
    case 1: damageFileHeader(&bytes)
    case 2, 3: damagePageHeader(&bytes)
    case 4: damageCellPointer(&bytes)
    case 5: copyPage(&bytes)
    case 6: damageText(&bytes)
    case 7: damageFreelist(&bytes)
    case 8: damagePageNumber(&bytes)
    default: flipBytes(&bytes)
    }
  }

  /// Changes the first trunk page of the freelist or a page number on it.
  private mutating func damageFreelist(_ bytes: inout [UInt8]) {
    guard bytes.count > 36 else { return }
    let trunk = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
    if trunk == 0 || Bool.random(using: &generator) {
      set(&bytes, at: 32 + Int.random(in: 0..<8, using: &generator))
    } else {
      let start = (trunk - 1) * pageSize(of: bytes)
      set(&bytes, at: start + Int.random(in: 0..<32, using: &generator))
    }
  }

  /// Changes the number at the beginning of a page, which on an overflow page leads to the next
  /// one, or at the end of its header, which leads to the last child.
  private mutating func damagePageNumber(_ bytes: inout [UInt8]) {
    let start = randomPage(bytes)
    let offset = Bool.random(using: &generator) ? 2 : 10
    let page = Int.random(in: 0...bytes.count / pageSize(of: bytes) + 1, using: &generator)
    guard start + offset + 1 < bytes.count else { return }
    bytes[start + offset] = UInt8(page >> 8 & 0xFF)
    bytes[start + offset + 1] = UInt8(page & 0xFF)
  }

  private mutating func flipBytes(_ bytes: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      bytes[Int.random(in: bytes.indices, using: &generator)] = interestingByte()
    }
  }

  private mutating func damageFileHeader(_ bytes: inout [UInt8]) {
    bytes[Int.random(in: 0..<min(100, bytes.count), using: &generator)] = interestingByte()
  }

  private mutating func damagePageHeader(_ bytes: inout [UInt8]) {
    set(&bytes, at: randomPage(bytes) + Int.random(in: 0..<12, using: &generator))
  }

  private mutating func damageCellPointer(_ bytes: inout [UInt8]) {
    set(&bytes, at: randomPage(bytes) + 8 + Int.random(in: 0..<64, using: &generator))
  }

  private mutating func copyPage(_ bytes: inout [UInt8]) {
    let size = pageSize(of: bytes)
    let source = randomPage(bytes)
    let target = randomPage(bytes)
    for offset in 0..<size where source + offset < bytes.count && target + offset < bytes.count {
      bytes[target + offset] = bytes[source + offset]
    }
  }

  /// Changes a letter or digit, of the schema's SQL among others, into another one.
  private mutating func damageText(_ bytes: inout [UInt8]) {
    let start = Int.random(in: bytes.indices, using: &generator)
    guard let place = bytes[start...].firstIndex(where: { (48...122).contains($0) }) else { return }
    bytes[place] = UInt8.random(in: 32...126, using: &generator)
  }

  private mutating func set(_ bytes: inout [UInt8], at place: Int) {
    if bytes.indices.contains(place) { bytes[place] = interestingByte() }
  }

  private mutating func interestingByte() -> UInt8 {
    Bool.random(using: &generator)
      ? UInt8.random(in: 0...255, using: &generator)
      : [0, 1, 2, 5, 10, 13, 0x7F, 0x80, 0xFF][Int.random(in: 0..<9, using: &generator)]
  }

  /// Where a page begins; the first one begins with its own header behind the file's.
  private mutating func randomPage(_ bytes: [UInt8]) -> Int {
    let size = pageSize(of: bytes)
    let page = Int.random(in: 0...bytes.count / size, using: &generator) * size
    return page == 0 ? 100 : page
  }

  private func pageSize(of bytes: [UInt8]) -> Int {
    guard bytes.count > 17 else { return 512 }
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    return size >= 512 ? size : 4096
  }
}
