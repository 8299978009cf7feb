import RecordFormats
import Testing

@testable import StoreCommand

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite(.tags(.unit)) struct ByteSourceTests {
  @Test func readsAFileAndRefusesTheStoresOwn() throws {
    var template = Array("/tmp/storecli-input-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    let path = template.withUnsafeBufferPointer { characters in
      String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    defer { unlink(path) }
    let sink = ByteSink(descriptor: descriptor)
    try sink.append("a\n1\n")
    try sink.flush()
    close(descriptor)

    var reader = CSVReader(source: try ByteSource(path: path, refusing: ["/tmp/absent"]))
    #expect(
      try [reader.readTexts(), reader.readTexts(), reader.readTexts()] == [["a"], ["1"], nil])
    #expect(throws: InputError(.storeFile, at: .start)) {
      try ByteSource(path: path, refusing: ["/tmp/absent", "/tmp/../\(path)"])
    }
    #expect(throws: InputError(.unreadable(SystemError(number: ENOENT)), at: .start)) {
      try ByteSource(path: path + ".absent", refusing: [])
    }
    var directory = CSVReader(source: try ByteSource(path: "/tmp", refusing: []))
    #expect(throws: InputError(.unreadable(SystemError(number: EISDIR)), at: .start)) {
      try directory.advance()
    }
  }
}
