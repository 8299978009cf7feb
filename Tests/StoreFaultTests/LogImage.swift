/// The bytes of a write-ahead log as frames, whose checksums can be computed again after a change:
/// <https://sqlite.org/fileformat2.html#walformat>.
struct LogImage {
  private static let headerSize = 32
  private static let frameHeaderSize = 24

  private var bytes: [UInt8]
  private let pageSize: Int
  let frameCount: Int

  /// - Returns: nil for bytes that are not a log with a frame.
  init?(_ bytes: [UInt8]) {
    guard bytes.count > Self.headerSize else { return nil }
    pageSize = Int(Self.word(bytes, at: 8))
    guard (512...65_536).contains(pageSize) else { return nil }
    frameCount = (bytes.count - Self.headerSize) / (Self.frameHeaderSize + pageSize)
    guard frameCount > 0 else { return nil }
    self.bytes = bytes
  }

  private func start(of frame: Int) -> Int {
    Self.headerSize + frame * (Self.frameHeaderSize + pageSize)
  }

  func isFirstPage(_ frame: Int) -> Bool { Self.word(bytes, at: start(of: frame)) == 1 }

  func page(of frame: Int) -> [UInt8] {
    let first = start(of: frame) + Self.frameHeaderSize
    return Array(bytes[first..<first + pageSize])
  }

  mutating func setPage(_ page: [UInt8], of frame: Int) {
    let first = start(of: frame) + Self.frameHeaderSize
    bytes.replaceSubrange(first..<first + pageSize, with: page)
  }

  mutating func setPageNumber(_ number: UInt32, of frame: Int) {
    Self.put(number, into: &bytes, at: start(of: frame))
  }

  /// The log with the checksums of its frames as they are now.
  func sealed() -> [UInt8] {
    var sealed = bytes
    let isBigEndian = Self.word(bytes, at: 0) & 1 == 1
    var sum: (UInt32, UInt32) = (0, 0)
    func add(_ range: Range<Int>) {
      for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        func word(_ place: Int) -> UInt32 {
          let number = Self.word(sealed, at: place)
          return isBigEndian ? number : number.byteSwapped
        }
        sum.0 = sum.0 &+ word(place) &+ sum.1
        sum.1 = sum.1 &+ word(place + 4) &+ sum.0
      }
    }
    add(0..<24)
    for frame in 0..<frameCount {
      let first = start(of: frame)
      add(first..<first + 8)
      add(first + Self.frameHeaderSize..<first + Self.frameHeaderSize + pageSize)
      Self.put(sum.0, into: &sealed, at: first + 16)
      Self.put(sum.1, into: &sealed, at: first + 20)
    }
    return sealed
  }

  private static func word(_ bytes: [UInt8], at place: Int) -> UInt32 {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func put(_ number: UInt32, into bytes: inout [UInt8], at place: Int) {
    for index in 0..<4 { bytes[place + index] = UInt8(number >> UInt32(24 - 8 * index) & 0xFF) }
  }
}
