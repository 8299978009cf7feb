import ArgumentParser
import Foundation
import ModelStore
import RecordFormats
import Testing

@testable import StoreCommand

/// Text of a file that would steer a terminal, deceive its reader or run in a spreadsheet.
@Suite(.tags(.process)) struct HostileTextTests {
  /// Every control character and every one that reorders text, each between two letters.
  private static let hostile: String = {
    let ranges: [ClosedRange<UInt32>] = [
      0x00...0x1F, 0x7F...0x9F, 0x061C...0x061C, 0x200E...0x200F, 0x2028...0x202E,
      0x2066...0x2069,
    ]
    var text = "a"
    for scalar in ranges.joined().compactMap({ Unicode.Scalar($0) }) {
      text.unicodeScalars.append(scalar)
      text.unicodeScalars.append("b")
    }
    return text
  }()

  private static func written(
    _ format: OutputFormat, _ values: [CellValue], name: String = "name",
    options: OutputFormat.Options = .init(), terminal: Terminal = .pipe
  ) throws -> String {
    let collected = Collected()
    var writer = try format.writer(
      columns: [OutputColumn(name, role: .key), OutputColumn("n", meaning: .json)],
      to: collected.sink, terminal: terminal, options: options)
    for value in values { try writer.write([value, .text("[\"\(Self.bidi)\"]")]) }
    try writer.finish()
    return collected.text
  }

  private static let bidi = "x\u{202E}y\u{9B}z"

  private static func steering(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { scalar in
      scalar != "\n" && scalar != "\r" && CellText.isInvisible(scalar)
        && !(scalar == "\t")
    }
  }

  @Test(arguments: OutputFormat.allCases)
  func noStoredTextControlsATerminal(format: OutputFormat) throws {
    for width in [20, 400] {
      var options = OutputFormat.Options()
      options.controls = .shown
      options.header = .present
      options.recordName = Self.hostile
      let terminal = Terminal(
        isInteractive: true, width: width, palette: Palette(isColoured: false))
      let text = try Self.written(
        format, [.text(Self.hostile)], name: Self.hostile, options: options, terminal: terminal)
      #expect(Self.steering(in: text) == [], "\(format) \(width)")
      // A carriage return lets a line overwrite the text before it.
      let bare = text.replacing("\r\n", with: "\n")
      #expect(!bare.unicodeScalars.contains("\r"), "\(format) \(width)")
    }
  }

  @Test func delimitedTextIsAsStoredInAPipe() throws {
    let text = try Self.written(.csv, [.text(Self.hostile)])
    #expect(text.contains(Self.hostile))
  }

  @Test func jsonAndYAMLEscapeWithoutLoss() throws {
    for format in [OutputFormat.json, .ndjson, .yaml] {
      let text = try Self.written(format, [.text(Self.hostile)])
      #expect(Self.steering(in: text) == [], "\(format)")
      #expect(text.contains("\\u202e") && text.contains("\\u061c") && text.contains("\\u009b"))
      #expect(text.contains("[\"x\\u202ey\\u009bz\"]"), "\(format)")
    }
    var source = JSONRecordReader(
      source: .bytes(Array(try Self.written(.ndjson, [.text(Self.hostile)]).utf8)),
      framing: .lines)
    #expect(
      try source.readRecord()
        == .object([
          JSONValue.Member("name", .string(Self.hostile)),
          JSONValue.Member("n", .array([.string(Self.bidi)])),
        ]))
  }

  /// Two terminals, and what came to them in the order of writing.
  private static func terminals(width: Int? = 200) -> (console: Console, written: Collected) {
    let written = Collected()
    let terminal = Terminal(
      isInteractive: true, width: width, palette: Palette(isColoured: false))
    let console = Console(
      data: written.sink, dataTerminal: terminal, talk: written.sink, talkTerminal: terminal)
    return (console, written)
  }

  @Test func noMessageControlsATerminal() throws {
    let (console, written) = Self.terminals()
    try console.say(Self.hostile)
    try console.ask(Self.hostile)
    try console.writeSQL("SELECT\n\(Self.hostile)")
    var progress = Progress(console: console)
    progress.clear()
    console.showProgress(Self.hostile)
    try console.finish()
    let text = written.text.replacing("\r\u{1B}[K", with: "")
    #expect(Self.steering(in: text) == [])
    // The lines of a statement stay lines.
    #expect(text.contains("SELECT\na\\0b"))
    #expect(!text.unicodeScalars.contains("\r"))
    let error = Console.shown(StoreError(.unsupportedSchema, Self.hostile))
    #expect(Self.steering(in: "\(error)") == [] && !"\(error)".contains("\n"))
  }

  @Test(arguments: [
    Origin.binding(hostile), .trigger(hostile), .user,
  ])
  func noReportedChangeControlsATerminal(origin: Origin) throws {
    let date = FieldSchema(name: "at\(Self.bidi)", type: .date)
    let schema = ModelSchema(
      name: Self.hostile, fields: [FieldSchema(name: "id", type: .text), date], key: ["id"])
    for operation in [RecordChange.Operation.insert, .update, .delete] {
      let field = ChangeLine.Field(
        name: date.name, old: .text(Self.hostile), new: .text(Self.bidi))
      let line = ChangeLine(
        operation: operation, model: Self.hostile, key: [.text(Self.hostile)],
        fields: [field], origin: origin, schema: schema)
      let palette = Palette(isColoured: false)
      let texts =
        [line.text(palette: palette, width: nil), line.text(palette: palette, width: 100)]
        + [line.words(showingRecord: true, .short), line.words(showingRecord: false, .whole)]
        + line.difference(palette: palette)
      for text in texts {
        #expect(Self.steering(in: text) == [] && !text.contains("\n"), "\(operation) \(text)")
      }
    }
  }

  /// Names and values of a database that another program made, shown by every command that reads.
  @Test func noCommandLetsADatabaseControlATerminal() throws {
    let place = try Workplace()
    let table = "T\u{202E}\u{1B}[31m\u{9B}2J\rx"
    let column = "c\u{202E}\u{1B}]0;\u{7}\rx"
    let quoted = "\"\(table)\""
    let raw = try RawDatabase(place.path("h.store"))
    try raw.execute(
      """
      CREATE TABLE \(quoted) (id TEXT PRIMARY KEY, "\(column)" TEXT);
      CREATE INDEX "i\(table)" ON \(quoted) ("\(column)");
      INSERT INTO \(quoted) VALUES ('k\(Self.bidi)\u{1B}[2J', 'v\(Self.bidi)\u{1B}[2J');
      """)
    place.environment["STORECLI_DB"] = place.path("h.store")
    for words in [
      ["adopt"], ["journal", "on"],
      [
        "bindings", "add", "derive", "\(table).\(column)", "--as", "id || 'x'", "--yes", "--name",
        "b\u{202E}",
      ],
      ["rules", "add", table, "--required", column, "--name", table],
      ["insert", table, "id=n\(Self.bidi)", "\(column)=v"],
    ] {
      let outcome = try place.run(words)
      #expect(outcome.code == 0, "\(words) \(outcome)")
    }
    try raw.execute(
      """
      CREATE TRIGGER "t\(table)" AFTER UPDATE ON \(quoted) WHEN NEW.id <> 'o'
      BEGIN UPDATE \(quoted) SET id = 'o' WHERE id = NEW.id; END;
      """)
    let commands: [[String]] = [
      ["models"], ["models", table], ["query", table], ["query", table, "--explain"],
      ["query", table, "--count"], ["get", table, "n\(Self.bidi)"], ["get", table, Self.bidi],
      ["query", table, "\(Self.bidi) = 1"], ["query", "--sql", "SELECT * FROM \(quoted)"],
      ["query", "--sql", "SELECT '\(Self.bidi)'", "--explain"], ["history"], ["history", table],
      ["history", table, "n\(Self.bidi)"], ["history", table, "--diff"], ["bindings", "list"],
      ["bindings", "check"], ["bindings", "why", "\(table).\(column)"], ["rules", "list"],
      ["validate"], ["doctor"], ["journal", "status"], ["consumers", "list"], ["hash", Self.bidi],
      ["watch", "--since", "0", "--timeout", "0s"], ["export", table],
      ["insert", table, "id=z\(Self.bidi)", "\(column)=v", "-n"],
      ["delete", table, "n\(Self.bidi)", "-n"],
      ["update", table, "n\(Self.bidi)", "id=p", "-n"], ["undo", "-n"], ["adopt", "-n"],
    ]
    for words in commands {
      for formats in [[], ["-o", "plain"], ["-o", "csv"]] {
        let (console, written) = Self.terminals()
        let parsed = try? StoreCLI.parseAsRoot(words + ["-d", place.path("h.store")] + formats)
        guard let command = parsed as? any LeafCommand else { continue }
        do {
          _ = try command.run(CommandContext(command, console: console))
        } catch {
          let failure = CommandError(error)
          try console.report(failure.text(as: .text, palette: Palette(isColoured: false)))
        }
        try console.finish()
        let text = written.text.replacing("\r\n", with: "\n")
        #expect(Self.steering(in: text) == [], "\(words) \(formats): \(text.debugDescription)")
        #expect(!text.unicodeScalars.contains("\r"), "\(words) \(formats)")
      }
    }
  }

  @Test func formulasAreEscapedAndComeBack() throws {
    var options = OutputFormat.Options()
    options.formulas = .escaped
    let texts = [
      "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "'", "''=", "plain",
      "",
    ]
    for text in texts {
      let escaped = FormulaText.escaped(text)
      #expect(FormulaText.unescaped(escaped) == text)
      #expect(!["=", "+", "-", "@", "\t", "\r", "\n", "＝"].contains(escaped.unicodeScalars.first))
    }
    // Numbers stay numbers.
    let written = try Self.written(
      .tsv, [.text("=1+1"), .integer(-5), .real(-0.5), .null], name: "=name", options: options)
    #expect(
      written.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
        == ["'=name", "'=1+1", "-5", "-0.5", "\\N"])
  }

  /// A computed field is compared with the cell: its text is un-escaped like that of others, and
  /// numbers had no mark.
  @Test(arguments: ["csv", "tsv"])
  func computedFieldsAndOtherTypesAreUnescaped(format: String) throws {
    let place = try Workplace()
    let database = try RawDatabase(place.path("f.db"))
    try database.execute(
      """
      CREATE TABLE Cell (
        id INTEGER PRIMARY KEY, "=f" TEXT, n INTEGER, r REAL, at DATETIME, raw VARBINARY(9),
        label TEXT AS ('=' || id), quoted TEXT AS ('''' || id), less INTEGER AS (-id));
      INSERT INTO Cell ("=f", n, r, at, raw) VALUES
        ('=cmd', -1, -0.5, '-000001-01-01', x'fbefbe'), ('''''', 1, 2, '+012026-01-01', x'00'),
        (NULL, NULL, NULL, NULL, NULL);
      """)
    place.environment["STORECLI_DB"] = place.path("f.db")
    try #require(try place.run("adopt").code == 0)
    let file = "cells." + format
    try #require(try place.run("export", "Cell", "--to", file, "--escape-formulas").code == 0)
    let separator = format == "csv" ? "," : "\t"
    let cells = try place.contents(of: file).split(whereSeparator: \.isNewline)
      .map { $0.components(separatedBy: separator) }
    #expect(cells[0][1] == "'=f")
    #expect(
      cells[1]
        == ["1", "'=cmd", "-1", "-0.5", "'-000001-01-01", "'++++", "'=1", "''1", "-1"])
    let before = try place.run("hash")
    try #require(
      try place.run("delete", "Cell", "--where", "id > 0", "--yes", "-q").code == 0)
    // Without the option the name of the second column is not the name of a field.
    #expect(try place.run("import", file, "--model", "Cell").code != 0)
    let imported = try place.run("import", file, "--model", "Cell", "--unescape-formulas")
    #expect(imported.code == 0, "\(imported)")
    #expect(try place.run("hash") == before)
  }

  @Test func anEscapedExportIsImportedAsItWas() throws {
    let place = try Workplace()
    let database = try RawDatabase(place.path("f.store"))
    try database.execute(
      """
      CREATE TABLE Cell (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO Cell VALUES (1, '=cmd'), (2, '''quoted'), (3, '-1'), (4, NULL), (5, '');
      CREATE TABLE Copy (id INTEGER PRIMARY KEY, text TEXT);
      """)
    place.environment["STORECLI_DB"] = place.path("f.store")
    #expect(try place.run("adopt").code == 0)
    for format in ["csv", "tsv"] {
      let file = "cells." + format
      let exported = try place.run("export", "Cell", "--to", file, "--escape-formulas")
      #expect(exported.code == 0, "\(exported)")
      #expect(try place.contents(of: file).contains("'=cmd"))
      try database.execute("DELETE FROM Copy")
      let imported = try place.run(
        "import", file, "--model", "Copy", "--unescape-formulas")
      #expect(imported.code == 0, "\(imported)")
      #expect(
        try database.value(
          "SELECT count(*) FROM Cell JOIN Copy USING (id) WHERE Cell.text IS Copy.text") == "5")
    }
    // Without the options every text is imported as it was exported.
    for format in ["csv", "tsv"] {
      let file = "plain." + format
      let exported = try place.run("export", "Cell", "--to", file)
      #expect(exported.code == 0, "\(exported)")
      try database.execute("DELETE FROM Copy")
      let imported = try place.run("import", file, "--model", "Copy")
      #expect(imported.code == 0, "\(imported)")
      #expect(
        try database.value(
          "SELECT count(*) FROM Cell JOIN Copy USING (id) WHERE Cell.text IS Copy.text") == "5")
    }
    #expect(try place.run("query", "Cell", "--json", "--escape-formulas").code == 64)
    let refused = try place.run(
      "import", "-", "--format", "ndjson", "--model", "Copy", "--unescape-formulas")
    #expect(refused.code == 64)
  }
}
