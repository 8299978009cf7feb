import Foundation

@testable import KitchenBoard

/// An event as a page receives it.
struct ReceivedEvent: Sendable {
  struct Change: Decodable {
    struct Deletion: Decodable { let index: Int }
    struct Insertion: Decodable { let index: Int, record: Ticket }
    struct Move: Decodable { let oldIndex: Int, newIndex: Int, record: Ticket }
    struct Update: Decodable { let newIndex: Int, record: Ticket, fields: [String] }

    let oldCount: Int
    let deletions: [Deletion], insertions: [Insertion], moves: [Move], updates: [Update]
  }

  private struct Snapshot: Decodable { let tickets: [Ticket] }
  private struct Changes: Decodable { let changes: Change }

  enum Content: Sendable {
    case snapshot([Ticket])
    case change(Change)
  }

  let id: String
  let content: Content

  /// - Returns: nil for a comment and for the time to wait.
  init?(_ text: String) throws {
    var fields: [String: String] = [:]
    for line in text.split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { continue }
      fields[String(line[..<colon])] = String(line[colon...].dropFirst(2))
    }
    guard let id = fields["id"], let data = fields["data"] else { return nil }
    self.id = id
    content =
      fields["event"] == "snapshot"
      ? .snapshot(try JSONDecoder().decode(Snapshot.self, from: Data(data.utf8)).tickets)
      : .change(try JSONDecoder().decode(Changes.self, from: Data(data.utf8)).changes)
  }

  var isSnapshot: Bool { if case .snapshot = content { true } else { false } }

  /// The changes in the words of the page.
  var summary: [String] {
    switch content {
    case .snapshot(let tickets): ["all \(tickets.count)"]
    case .change(let change):
      change.deletions.map { "- \($0.index)" } + change.insertions.map { "+ \($0.index)" }
        + change.moves.map { "\($0.oldIndex) → \($0.newIndex)" }
        + change.updates.map { "\($0.newIndex) \($0.fields.joined(separator: ","))" }
    }
  }

  struct Misfit: Error {}

  /// Does what the page does.
  func apply(to rows: inout [Ticket]) throws {
    switch content {
    case .snapshot(let tickets): rows = tickets
    case .change(let change):
      guard rows.count == change.oldCount else { throw Misfit() }
      let left = Set(change.deletions.map(\.index) + change.moves.map(\.oldIndex))
      rows = rows.indices.filter { !left.contains($0) }.map { rows[$0] }
      let arriving =
        change.insertions.map { ($0.index, $0.record) }
        + change.moves.map { ($0.newIndex, $0.record) }
      for (index, row) in arriving.sorted(by: { $0.0 < $1.0 }) { rows.insert(row, at: index) }
      for update in change.updates { rows[update.newIndex] = update.record }
    }
  }
}

extension ReceivedEvent.Change: Sendable {}
extension ReceivedEvent.Change.Deletion: Sendable {}
extension ReceivedEvent.Change.Insertion: Sendable {}
extension ReceivedEvent.Change.Move: Sendable {}
extension ReceivedEvent.Change.Update: Sendable {}
