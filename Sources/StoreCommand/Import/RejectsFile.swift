import RecordFormats

/// The file of the records that an import left out, as they were in the input and with the reasons,
/// so that they can be corrected and imported again. The first rejected record creates it.
final class RejectsFile {
  let path: String
  /// The first line; nil for none.
  private let headerBytes: [UInt8]?
  private let refusedPaths: [String]
  private var file: OutputFile?
  /// How many bytes of the file belong to transactions that have ended.
  private var keptByteCount = 0

  init(path: String, headerBytes: [UInt8]?, refusing paths: [String]) {
    self.path = path
    self.headerBytes = headerBytes
    refusedPaths = paths
  }

  /// Continues the file of an import that was interrupted.
  func resume(after byteCount: Int) throws {
    guard byteCount > 0 else { return }
    file = try OutputFile(continuing: path, after: byteCount, refusing: refusedPaths)
    keptByteCount = byteCount
  }

  /// Puts the file in its place with what was added so far. Call it before the transaction is
  /// committed that left these records out.
  ///
  /// - Returns: The length of the file; 0 if there is none.
  func publish() throws -> Int {
    guard let file else { return 0 }
    try file.close()
    return try file.byteCount
  }

  /// The name beside the input: `people.rejects.csv` for `people.csv`. A JSON array's rejects are
  /// lines.
  static func path(for input: String, model: String) -> String {
    let input = CompressedFile.uncompressedName(of: input)
    guard input != "-" else { return "\(model).rejects" }
    let name = input.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return input + ".rejects"
    }
    let ending = String(name[dot...])
    return String(input.dropLast(ending.count)) + ".rejects"
      + (ending == ".json" ? ".ndjson" : ending)
  }

  /// Adds one record, on a line of its own.
  func write(_ record: [UInt8]) throws {
    let file = try self.file ?? open()
    self.file = file
    try Self.append(record, to: file)
  }

  /// Keeps the records added so far, even if the rest of the import fails.
  func keep() throws {
    if let file { keptByteCount = try file.byteCount }
  }

  /// Removes what was added after the last ``keep()``: another run will read those records again.
  func forgetUnkept() throws {
    guard let file else { return }
    guard keptByteCount > 0 else {
      self.file = nil
      return
    }
    try file.cut(to: keptByteCount)
  }

  /// Puts the file in its place.
  func close() throws {
    try file?.close()
    file = nil
  }

  private func open() throws -> OutputFile {
    let file = try OutputFile(path: path, refusing: refusedPaths)
    if let headerBytes { try Self.append(headerBytes, to: file) }
    return file
  }

  private static func append(_ line: [UInt8], to file: OutputFile) throws {
    try file.sink.append { output throws(OutputError) in
      output += line
      output.append(UInt8(ascii: "\n"))
    }
  }
}
