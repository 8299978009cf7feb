import Foundation

/// A page of Markdown whose `console` blocks hold commands, after `$ `, and what they print.
enum RecordedGuide {
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
      (NSRegularExpression.escapedPattern(for: directory), "/home/you/music"),
      (#"\d\d:\d\d:\d\d\.\d{3}"#, "12:30:07.412"),
      (#"\[\d+\]"#, "[4121]"),
      (#""pid":\d+"#, #""pid":4121"#),
      (#""time":"[^"]*""#, #""time":"2026-09-01T12:30:07.412000Z""#),
      (#""txn":"\w+""#, #""txn":"4zsx2q""#),
      (#"transaction \w+ as \w+"#, "transaction 4zsx2q as 4zsx2r"),
    ]
    return replacements.reduce(output) { text, replacement in
      text.replacingOccurrences(
        of: replacement.0, with: replacement.1, options: .regularExpression)
    }
  }
}
