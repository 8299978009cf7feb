import Foundation
import RecordFormats
import Testing

@testable import StoreCommand

/// Inputs in UTF-16, which spreadsheets write, and in what is not read.
@Suite(.tags(.process)) struct EncodingTests {
  private static func bytes(_ text: String, _ order: ByteOrder, mark: Bool) -> [UInt8] {
    ((mark ? "\u{feff}" : "") + text).utf16.flatMap { unit in
      let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      return order == .bigEndian ? bytes : bytes.reversed()
    }
  }

  /// What is read from `bytes` when they come in pieces of `count`.
  private static func read(_ bytes: [UInt8], inPiecesOf count: Int) throws(InputError) -> String {
    var rest = bytes[...]
    let source = try ByteSource { buffer throws(InputError) in
      let piece = rest.prefix(min(count, buffer.count))
      buffer.copyBytes(from: piece)
      rest = rest.dropFirst(piece.count)
      return piece.count
    }
    .inUTF8()
    var found: [UInt8] = []
    while true {
      let more = try source.bytes(atMost: 7)
      if more.isEmpty { return String(decoding: found, as: UTF8.self) }
      found += more
    }
  }

  @Test(arguments: [ByteOrder.littleEndian, .bigEndian])
  func utf16WithAMarkIsRead(order: ByteOrder) throws {
    for text in ["", "a", "id,name\r\n1,é你👍🏽\u{10FFFF}\0\n", String(repeating: "👍", count: 50)] {
      let bytes = Self.bytes(text, order, mark: true)
      for count in [1, 2, 3, 5, 1000] {
        #expect(try Self.read(bytes, inPiecesOf: count) == "\u{feff}" + text)
      }
    }
  }

  @Test(arguments: ["", "a", "id,name\n", "\u{feff}id\n", "é\0你", "a\0b\0c\0d\0\0\0e\0f\0g\0h"])
  func utf8StaysAsItIs(text: String) throws {
    #expect(try Self.read(Array(text.utf8), inPiecesOf: 4) == text)
  }

  @Test func theErrorNamesAnUnsupportedEncoding() {
    func error(_ bytes: [UInt8]) -> InputError? {
      #expect(throws: InputError.self) { try Self.read(bytes, inPiecesOf: 100) }
    }
    #expect(
      error(Self.bytes("id,name\n1", .littleEndian, mark: false))?.problem
        == .otherEncoding("UTF-16LE"))
    #expect(
      error(Self.bytes("id,name\n1", .bigEndian, mark: false))?.problem
        == .otherEncoding("UTF-16BE"))
    #expect(error([0xFF, 0xFE, 0, 0, 65, 0, 0, 0])?.problem == .otherEncoding("UTF-32"))
    let half = InputError.Problem.invalidUTF16(.littleEndian, byteOffset: 4)
    #expect(error([0xFF, 0xFE, 65, 0, 0x00, 0xD8, 66, 0])?.problem == half)
    #expect(error([0xFF, 0xFE, 65, 0, 0x00, 0xDC])?.problem == half)
    #expect(error([0xFF, 0xFE, 65, 0, 66])?.problem == half)
    #expect(error([0xFF, 0xFE, 65, 0, 0x3D, 0xD8])?.problem == half)
  }

  @Test func aFileOfASpreadsheetIsImported() throws {
    let place = try Workplace()
    try place.makeMusic()
    let text = "id,name,founded\r\n100,Zoë,1960\r\n"
    try Data(Self.bytes(text, .littleEndian, mark: true)).write(to: place.url("Artist.csv"))
    #expect(try place.run("import", "Artist.csv").code == 0)
    #expect(try place.run("get", "Artist", "100").out == "100\tZoë\t1960\n")
    try Data(Self.bytes(text, .littleEndian, mark: false)).write(to: place.url("Artist.csv"))
    #expect(
      try place.run("import", "Artist.csv")
        == Outcome(
          code: 4, out: "",
          err: """
            error[input]: Artist.csv: the text is UTF-16LE without a byte order mark; name the \
            encoding
            hint: storecli import --encoding utf-16le

            """))
  }
}
