/// The file that takes the records an import left out, as they stood in the input, so that they can
/// be put right and imported again. It is made when the first one comes.
final class RejectsFile {
  let path: String
  private let header: [String]
  private let format: RecordInput.Format
  private let refusedPaths: [String]
  private var file: OutputFile?

  init(path: String, header: [String], format: RecordInput.Format, refusing paths: [String]) {
    self.path = path
    self.header = header
    self.format = format
    refusedPaths = paths
  }

  /// The name beside the input: `people.rejects.csv` for `people.csv`. A JSON array's rejects are
  /// lines.
  static func path(for input: String, model: String) -> String {
    guard input != "-" else { return "\(model).rejects" }
    let name = input.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return input + ".rejects"
    }
    let ending = String(name[dot...])
    return String(input.dropLast(ending.count)) + ".rejects"
      + (ending == ".json" ? ".ndjson" : ending)
  }

  /// Adds one record.
  func write(_ record: [UInt8]) throws {
    let file = try self.file ?? open()
    self.file = file
    try file.sink.append { output throws(OutputError) in
      output.append(contentsOf: record)
      while output.last == 0x20 { output.removeLast() }
      output.append(UInt8(ascii: "\n"))
    }
  }

  /// Puts the file in its place.
  func close() throws {
    try file?.close()
    file = nil
  }

  private func open() throws -> OutputFile {
    let file = try OutputFile(path: path, refusing: refusedPaths)
    if format == .csv {
      var rows = DelimitedRows(
        .csv, columns: header.map { OutputColumn($0) }, header: .present, sink: file.sink)
      try rows.finish()
    }
    return file
  }
}
