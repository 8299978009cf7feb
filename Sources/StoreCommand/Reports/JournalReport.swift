import ModelStore
import RecordFormats

/// Past changes as rows, or as objects for programs that read JSON.
struct JournalReport {
  private let context: CommandContext
  /// Whether each change names its record.
  private let showsRecord: Bool
  /// Whether each value has its own line, for a person.
  private let isDifference: Bool
  private var writer: (any RowWriter)?
  private var count = 0
  /// Whether changes may be missing somewhere.
  private(set) var hasGap = false

  init(_ context: CommandContext, showsRecord: Bool, isDifference: Bool) {
    self.context = context
    self.showsRecord = showsRecord
    self.isDifference = isDifference
  }

  mutating func begin() throws {
    guard !isDifference else {
      guard [.table, .plain].contains(context.format), context.options.fieldNames == nil else {
        throw CommandError.usage(
          "--diff prints text for a person, so it takes neither -o nor --fields.")
      }
      return
    }
    switch context.format {
    case .json, .ndjson:
      guard context.options.fieldNames == nil else {
        throw CommandError.usage("--fields chooses columns; in JSON, a change is one object.")
      }
    case .table:
      writer = try context.reportWriter(
        columns: [
          OutputColumn("position", role: .key), OutputColumn("when", role: .whole),
          OutputColumn("who", role: .whole), OutputColumn("change"),
          OutputColumn("txn", role: .whole),
        ])
    case .plain, .csv, .tsv, .yaml, .md, .sql:
      writer = try context.reportWriter(
        columns: ["position", "txn", "time", "who", "op", "model", "id", "change"].map {
          OutputColumn($0)
        })
    }
  }

  mutating func write(_ line: JournalLine) throws {
    switch context.format {
    case .table where isDifference, .plain where isDifference: try writeDifference(line)
    case .json:
      try context.console.data.append(count == 0 ? "[\n" : ",\n")
      try context.console.data.append(try JSONText.text(line.json))
    case .ndjson: try context.console.writeLine(try JSONText.text(line.json))
    case .table:
      let row = shownRow(line)
      try writer?.write(row)
    case .plain, .csv, .tsv, .yaml, .md, .sql:
      let row = Self.row(line)
      try writer?.write(row)
    }
    count += 1
  }

  /// Writes a place where changes may be missing, in every format.
  mutating func write(_ gap: StreamGap) throws {
    hasGap = true
    try context.console.say(beside: gap)
    switch context.format {
    case .table where isDifference, .plain where isDifference:
      if count > 0 { try context.console.writeLine("") }
      try context.console.writeLine(CellText.visible(gap.text))
    case .json:
      try context.console.data.append(count == 0 ? "[\n" : ",\n")
      try context.console.data.append(try JSONText.text(gap.json))
    case .ndjson: try context.console.writeLine(try JSONText.text(gap.json))
    case .table:
      try writer?.write([
        gap.position.map { .integer($0.rawValue) } ?? .null, .text(Self.unknown),
        .text(Self.unknown), .text(gap.text), .text(Self.unknown),
      ])
    case .plain, .csv, .tsv, .yaml, .md, .sql:
      try writer?.write([
        gap.position.map { .integer($0.rawValue) } ?? .null, .null, .null, .null, .text("gap"),
        gap.models.map { .text($0.joined(separator: ", ")) } ?? .null, .null, .text(gap.words),
      ])
    }
    count += 1
  }

  private func writeDifference(_ line: JournalLine) throws {
    let console = context.console
    let terminal = console.dataTerminal
    let transaction = line.transaction
    let time = transaction.time.map { terminal.isInteractive ? TimeText.ago($0) : TimeText.iso($0) }
    let place = [
      "position \(line.position)", time, CellText.visible(line.who),
      transaction.id.map { "txn \($0)" },
    ].compactMap(\.self).joined(separator: "  ")
    if count > 0 { try console.writeLine("") }
    try console.writeLine(terminal.palette.dressed(place, as: .hint))
    for text in line.change.difference(palette: terminal.palette) { try console.writeLine(text) }
  }

  /// The cell for what other programs do not record.
  private static let unknown = "-"

  /// The cells for a person.
  private func shownRow(_ line: JournalLine) -> [CellValue] {
    let transaction = line.transaction
    return [
      .integer(line.position.rawValue),
      .text(transaction.time.map { TimeText.ago($0) } ?? Self.unknown), .text(line.who),
      .text(line.change.words(showingRecord: showsRecord, .short)),
      .text(transaction.id.map(\.description) ?? Self.unknown),
    ]
  }

  /// The cells for a program.
  private static func row(_ line: JournalLine) -> [CellValue] {
    let transaction = line.transaction
    return [
      .integer(line.position.rawValue),
      transaction.id.map { CellValue.text($0.description) } ?? .null,
      transaction.time.map { CellValue.text(TimeText.iso($0)) } ?? .null, .text(line.who),
      .text(line.change.operation.rawValue), .text(line.change.model),
      .text(KeyText.text(line.change.key)), .text(line.change.words(showingRecord: false, .whole)),
    ]
  }

  mutating func finish() throws {
    if let writer { try context.finish(writer) }
    if context.format == .json { try context.console.writeLine(count == 0 ? "[]" : "\n]") }
    try context.console.finish()
  }
}
