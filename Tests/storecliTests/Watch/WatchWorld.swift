import Foundation
import Testing

/// A store of tracks with a journal, and short forms of what `watch` reports about them.
struct WatchWorld {
  let place: Workplace
  let raw: RawDatabase
  /// The journal's position when it began.
  let start: String

  init(journal: [String] = ["on"]) throws {
    place = try Workplace()
    try place.makeMusic()
    if !journal.isEmpty {
      let outcome = try place.run(["journal"] + journal)
      try #require(outcome.code == 0, "\(outcome)")
    }
    raw = try RawDatabase(place.path("music.store"))
    start = journal.isEmpty ? "0" : try raw.value("SELECT max(position) FROM _ms_journal")
  }

  /// Changes one track, as another program would.
  func set(_ change: String, of track: Int) throws {
    try raw.execute("UPDATE Track SET \(change) WHERE id = \(track)")
  }

  /// Runs the built program's `watch` over what the journal has, to its end.
  ///
  /// - Parameter start: nil for where the journal began.
  func watch(_ arguments: String..., from start: String? = nil) throws -> Outcome {
    try place.runProcess(
      ["watch", "--since", start ?? self.start, "--timeout", "0s"] + arguments)
  }

  /// The current position of the journal.
  func position() throws -> String {
    try raw.value("SELECT max(position) FROM _ms_journal")
  }
}

/// Lines of ndjson as words: `+ 3 entered`, `~ 3 seconds 10 -> 20`, `- 3 left`; without gaps.
func told(_ lines: String) throws -> [String] {
  try lines.split(separator: "\n").compactMap { line in
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    if object["op"] as? String == "gap" { return nil }
    let changes = try #require(object["changes"] as? [String: [String: Any]])
    var words: [String] = []
    switch object["op"] as? String {
    case "insert": words.append("+")
    case "delete": words.append("-")
    case "update": words.append("~")
    case let operation: words.append(operation ?? "?")
    }
    words.append("\(object["id"] ?? "?")")
    if object["op"] as? String == "update" {
      for (name, values) in changes.sorted(by: { $0.key < $1.key }) {
        words.append("\(name) \(values["old"] ?? "?") -> \(values["new"] ?? "?")")
      }
    }
    if object["entered"] as? Bool == true { words.append("entered") }
    if object["left"] as? Bool == true { words.append("left") }
    return words.joined(separator: " ")
  }
}
