@testable import ModelStore

/// Values on both sides of every border of SQLite's order, for comparison with a database: insert
/// each into a column without affinity and sort.
let sortCorpus: [SQLValue] =
  sortCorpusNumbers + sortCorpusTexts.map(SQLValue.text) + sortCorpusBlobs.map(SQLValue.blob)
  + [.null]

private let sortCorpusNumbers: [SQLValue] = [
  .null, .real(.nan), .real(.infinity), .real(-.infinity),
  .integer(0), .real(0), .real(-0.0), .integer(1), .real(1), .integer(-1), .real(-1),
  .real(.leastNonzeroMagnitude), .real(-.leastNonzeroMagnitude), .real(.leastNormalMagnitude),
  .real(0.1), .real(0.5), .real(1.0.nextDown), .real(1.0.nextUp), .real(1.5), .real(-0.5),
  .real(-1.0.nextDown), .real(-1.0.nextUp), .integer(2), .real(2.5), .real(-2.5), .integer(-2),
  .integer(63), .integer(64), .integer(127), .integer(128), .integer(-127), .integer(-128),
  .real(127.75), .real(128.25), .real(-127.75), .integer(32767), .integer(32768), .real(32767.5),
  .real(1_700_000_000.123456), .real(1_700_000_000.123457), .integer(1_700_000_000),
  .integer(1 << 52), .real(0x1p52 - 0.5), .real(0x1p51 + 0.25), .real(-0x1p52 + 0.5),
  .integer((1 << 53) - 1), .integer(1 << 53), .real(0x1p53), .integer((1 << 53) + 1),
  .integer((1 << 53) + 2), .real(0x1p53 + 2), .integer(-(1 << 53)), .integer(-(1 << 53) - 1),
  .real(-0x1p53), .real(-0x1p53 - 2), .integer((1 << 62) + 1), .real(0x1p62),
  .integer(.max), .integer(.max - 1), .integer(.max - 512), .real(0x1p63.nextDown), .real(0x1p63),
  .real(0x1p63.nextUp), .integer(.min), .real(-0x1p63), .integer(.min + 1),
  .real((-0x1p63).nextDown), .real(0x1p64), .real(0x1p64.nextDown), .real(-0x1p64), .real(9.3e18),
  .real(1e300), .real(-1e300), .real(.greatestFiniteMagnitude), .real(-.greatestFiniteMagnitude),
]

private let sortCorpusTexts: [String] = [
  "", " ", "  ", "\t", "a", "A", "a ", "A  ", "a\t", "a \t", " a", "aa", "AA", "aB", "Ab", "ab",
  "ab ", "b", "B", "z", "Z", "[", "_", "`", "{", "@", "0", "9", "10", "-1",
  "\u{0}", "\u{0}\u{0}", "\u{1}", "\u{1}\u{1}", "\u{2}", "a\u{0}", "A\u{0}", "a\u{0}b", "A\u{0}z",
  "a\u{0}z", "a\u{0}zz", "a\u{1}", "a\u{1}b", "ab\u{0}", "a\u{0} ", "a \u{0}", "\u{0} ", "\u{7F}",
  "\u{C4}", "\u{E4}", "A\u{308}", "a\u{308}", "\u{DF}", "\u{20AC}", "\u{FFFF}", "\u{10FFFF}",
  "\u{1F600}", "a name of 23 or so bytes", "a name of 23 or so bytez", "A NAME OF 23 OR SO BYTES",
  "a name of 23 or so bytes ", "a name longer than forty bytes, in all of its length",
  "a name longer than forty bytes, in all of its lengtH", "aaaaaaaaaaaaaa", "aaaaaaaaaaaaaaa",
  "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaa",
]

private let sortCorpusBlobs: [[UInt8]] = [
  [], [0], [0, 0], [0, 1], [0, 255], [1], [1, 0], [1, 1], [1, 2], [2], [97], [65], [97, 0],
  [97, 0, 98], [97, 1], [32], [127], [128], [254], [255], [255, 0], [255, 255],
  Array(repeating: 0, count: 10), Array(repeating: 0, count: 11), Array(repeating: 0, count: 12),
  Array(repeating: 255, count: 21), Array(repeating: 255, count: 22),
  Array(repeating: 255, count: 23), Array(repeating: 255, count: 40),
]
