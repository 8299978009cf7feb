extension ChangeBroker {
  /// The part of one commit that concerns an observer.
  struct Commit: Sendable {
    /// The changes of the observer's models, or of its single record. Most observers of records get
    /// one change, which needs no array.
    enum Part: Sendable {
      case one(RecordChange)
      case several([RecordChange])
    }

    /// What is the same for all observers. An object, because each event has a copy.
    final class Frame: Sendable {
      let version: UInt64
      /// The edits of ordered lists, by list.
      let edits: [ListIdentity: ListEdits]
      /// The chain of callbacks that led to the writing transaction.
      let wave: Wave

      init(version: UInt64, edits: [ListIdentity: ListEdits] = [:], wave: Wave = Wave()) {
        self.version = version
        self.edits = edits
        self.wave = wave
      }
    }

    let frame: Frame
    let part: Part
    /// Whether the part is incomplete. This happens when another connection wrote, when the schema
    /// changed, and when the observer was added while the transaction ran.
    let isReset: Bool
    /// Whether this is the initial state instead of a commit: the record appears as inserted.
    let isInitial: Bool

    init(_ frame: Frame, _ part: Part, isReset: Bool, isInitial: Bool = false) {
      self.frame = frame
      self.part = part
      self.isReset = isReset
      self.isInitial = isInitial
    }

    var version: UInt64 { frame.version }

    /// The changes, as an array. It is made for each use if there is one change.
    var changes: [RecordChange] {
      switch part {
      case .one(let change): [change]
      case .several(let changes): changes
      }
    }

    /// The first change; nil if there is none.
    var firstChange: RecordChange? {
      switch part {
      case .one(let change): change
      case .several(let changes): changes.first
      }
    }

    var hasChanges: Bool { firstChange != nil }
  }
}
