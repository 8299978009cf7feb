import Foundation

/// A page of Markdown whose `console` blocks hold commands, after `$ `, and what they print.
enum RecordedGuide {
  /// The tables of another program, which the guide adopts.
  static let shop = """
    CREATE TABLE Shelf (id INTEGER PRIMARY KEY, label TEXT NOT NULL, products INTEGER);
    CREATE TABLE Product (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, shelf INTEGER REFERENCES Shelf (id),
      is_sold BOOLEAN NOT NULL);
    INSERT INTO Shelf (id, label) VALUES (1, 'Strings'), (2, 'Keys');
    INSERT INTO Product VALUES (1, 'Guitar', 1, 0), (2, 'Lute', 1, 1), (3, 'Organ', 2, 0);
    """

  /// Returns `page` with the output that `run` gives for each command, in their order.
  static func recorded(_ page: String, run: (String) throws -> String) rethrows -> String {
    var lines: [String] = []
    var isConsole = false
    for line in page.components(separatedBy: "\n") {
      guard isConsole else {
        lines.append(line)
        isConsole = line == "```console"
        continue
      }
      if line == "```" {
        isConsole = false
        lines.append(line)
      } else if line.hasPrefix("$ ") {
        if lines.last != "```console" { lines.append("") }
        lines.append(line)
        let output = try run(String(line.dropFirst(2)))
        lines += output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Replaces what differs from run to run: times, ids of processes and transactions, and the
  /// directory.
  static func stable(_ output: String, in directory: String) -> String {
    let replacements = [
      (NSRegularExpression.escapedPattern(for: directory), "/srv/music"),
      (#"\d\d:\d\d:\d\d\.\d{3}"#, "12:30:07.412"),
      (#"\[\d+\]"#, "[4121]"),
      (#""pid":\d+"#, #""pid":4121"#),
      (#""time":"[^"]*""#, #""time":"2026-09-01T12:30:07.412000Z""#),
      (#""txn":"\w+""#, #""txn":"4zsx2q""#),
      (#"transaction \w+ as \w+"#, "transaction 4zsx2q as 4zsx2r"),
      (#"txn \w+"#, "txn 4zsx2q"),
      ("\r\n", "\n"),
      // The width of a column follows its longest text.
      (#"(?<=  )(now|\d+ [smhd] ago)\b {2,}"#, "2 s ago  "),
      (#"(?<=  )(now|\d+ [smhd] ago)\b"#, "2 s ago"),
      ("APPLIED +PROGRAM", "APPLIED  PROGRAM"),
      // A slow machine shows progress.
      ("\r\u{1B}\\[K[^\r\n]*", ""),
      (#"\b2\d{13}(?=_add_due_date|  add_due_date)"#, "20260901123007"),
      (#"(?<=   )\d+ ms"#, "1 ms"),
      (#"in \d+\.\d s"#, "in 0.1 s"),
      (#"--resume [0-9a-f]{8}"#, "--resume 3f9c2a1b"),
      // Another version of SQLite may take other steps.
      (#", \d[\d ]* steps of SQLite"#, ", 3 769 steps of SQLite"),
      (#"\d[\d ]* -> \d[\d ]* steps"#, "3 769 -> 46 steps"),
    ]
    return replacements.reduce(output) { text, replacement in
      text.replacingOccurrences(
        of: replacement.0, with: replacement.1, options: .regularExpression)
    }
  }

  /// Returns `help` without the sections and lines that every command has.
  static func withoutCommonOptions(_ help: String) -> String {
    let end = help.range(of: "\n\nCOMMON OPTIONS:\n")?.lowerBound ?? help.endIndex
    let version = #" +--version +Show the version\.\n +-h, --help +Show help information\.\n"#
    return (help[..<end] + "\n").replacingOccurrences(
      of: #"(\nOPTIONS:)?\n"# + version, with: "\n", options: .regularExpression
    )
    .replacingOccurrences(of: #"\n{3,}"#, with: "\n\n", options: .regularExpression)
    .trimmingCharacters(in: .newlines) + "\n"
  }
}
