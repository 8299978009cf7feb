import Hummingbird
import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One server-sent event: the whole board, or what changed after another position.
package struct BoardEvent: Sendable {
  /// The state of the file that a page has after this event.
  package let position: JournalPosition
  /// The text of the event; nil if the board did not change.
  package let text: ByteBuffer?

  /// The board as it is.
  struct Snapshot: Encodable {
    let tickets: [Ticket]
    let path: String
  }

  /// What changed.
  struct Change: Encodable {
    /// The programs that wrote it.
    let programs: [String]
    let changes: QueryChanges<Ticket>
  }

  init(_ name: String, _ content: some Encodable, at position: JournalPosition) throws {
    self.position = position
    let data = try JSONEncoder().encode(content)
    var text = ByteBuffer(string: "id: \(position)\nevent: \(name)\ndata: ")
    text.writeBytes(data)
    text.writeStaticString("\n\n")
    self.text = text
  }

  init(unchangedAt position: JournalPosition) {
    self.position = position
    text = nil
  }
}

extension QueryChanges {
  /// Whether the result is the same before and after.
  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
      && refreshes.isEmpty
  }
}
