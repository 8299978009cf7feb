/// What the change journal tells of one transaction, or of what other programs did between two
/// transactions of stores.
///
/// A store signs each of its transactions; other programs do not. So their commits cannot be told
/// apart: everything that they entered between two signed transactions is one value, as far as it
/// was there when the journal was read; of more than some 4,000 positions, it is several.
public struct JournalTransaction: Hashable, Sendable {
  /// Where its entries stand. Reading on after the upper bound tells what came next.
  public let positions: ClosedRange<JournalPosition>
  /// nil for what other programs did.
  public let id: TransactionID?
  /// When it was about to commit, by the clock of its machine: microseconds since 1970-01-01
  /// 00:00:00 UTC. nil for what other programs did. Positions tell the order, times need not.
  package let time: Int64?
  /// The name of the program; nil for what other programs did.
  public let program: String?
  /// The number of its process, as the system counted then; nil for what other programs did.
  public let process: Int64?
  /// What ``WriteTransaction/sign(author:tag:)`` said.
  package let signature: TransactionSignature
  /// The transaction that this one took back, if it did.
  public let reverted: TransactionID?
  /// Each change, in the order in which they were made, several of one record included. A change of
  /// key is a deletion and an insertion.
  public let changes: [JournalChange]
  /// Where the journal of a model began or ended, in the order of their positions.
  package let interruptions: [JournalInterruption]

  /// The models of ``interruptions``, of which changes may be missing, in name order.
  public var gaps: [String] { Set(interruptions.map(\.model)).sorted() }

  /// Whether other programs did it, or a store whose journal was off.
  public var isForeign: Bool { id == nil }
}

/// Where changes of a model began to be entered in the change journal or ceased to be: it was
/// turned on or off, or triggers that somebody had damaged were made anew.
package struct JournalInterruption: Hashable, Sendable {
  /// On which side of the place changes may be missing.
  package enum Kind: Hashable, Sendable {
    /// Before it: nothing says since when.
    case started
    /// From there on, until the next ``started`` of the model.
    case stopped
  }

  /// Where it stands in the journal.
  package let position: JournalPosition
  /// The model's name.
  package let model: String
  /// What happened.
  package let kind: Kind
}

/// One change of one record, as the change journal holds it.
public struct JournalChange: Hashable, Sendable {
  /// A value before and after.
  public struct FieldValues: Hashable, Sendable {
    /// The field's name at that time.
    public let name: String
    /// nil in an insertion.
    public let old: SQLValue?
    /// nil in a deletion.
    public let new: SQLValue?
  }

  /// Where it stands in the journal; unique in the file.
  public let position: JournalPosition
  /// The model's name.
  public let model: String
  /// The record's key values, in key order.
  public let key: [SQLValue]
  /// What happened to the record.
  public let operation: RecordChange.Operation
  /// For an update the fields that differ; otherwise all of them. In field order, without those of
  /// the key. Empty where the journal keeps only keys.
  public let fields: [FieldValues]
  /// How much of the change was kept.
  public let detail: JournalDetail
  /// The binding that the change followed: it is an update of nothing but a field that the binding
  /// keeps, and what the binding reads was changed before in the same transaction.
  ///
  /// The journal holds what was done and not why, so this is concluded from the bindings of today.
  /// nil for everything else, also where several bindings of the field may have been it, and where
  /// declaring or rebuilding a binding, or writing into the field itself, was answered.
  public internal(set) var binding: String?
  /// Which values were texts that are not UTF-8, as other programs may write them: those stand here
  /// as blobs of the same bytes. Empty but for such a change, which cannot be taken back.
  package let malformedTexts: Set<MalformedText>

  /// Where a value stands in a change.
  package enum MalformedText: Hashable, Sendable {
    /// The index in ``JournalChange/key``.
    case key(Int)
    /// The name of a field, whose old value it is.
    case old(String)
    /// The name of a field, whose new value it is.
    case new(String)
  }

  /// The field called `name`; nil when it is not among ``fields``.
  public subscript(name: String) -> FieldValues? {
    fields.first { $0.name == name }
  }
}

extension JournalTransaction {
  /// - Parameters:
  ///   - filter: Which of the entries' changes are told.
  ///   - bindings: What the changes may have followed.
  init(
    _ logged: LoggedTransaction, layouts: JournalLayouts, filter: JournalFilter,
    bindings: FollowedBindings
  ) {
    var changes: [JournalChange] = []
    var progress = FollowedBindings.Progress()
    var interruptions: [JournalInterruption] = []
    func interrupt(_ kind: JournalInterruption.Kind, _ layout: Int64, at position: Int64) {
      guard let model = layouts.all[layout]?.model, filter.model ?? model == model else { return }
      interruptions.append(
        JournalInterruption(
          position: JournalPosition(rawValue: position), model: model, kind: kind))
    }
    for entry in logged.entries {
      switch entry.content {
      case .record(let record):
        guard let layout = layouts.all[record.layout] else { continue }
        var change = JournalChange(record, layout, at: entry.position)
        change.binding = bindings.binding(of: change, after: &progress)
        if filter.admits(change) { changes.append(change) }
      case .started(let layout): interrupt(.started, layout, at: entry.position)
      case .stopped(let layout): interrupt(.stopped, layout, at: entry.position)
      case .transaction: break
      }
    }
    self.init(
      positions: JournalPosition(
        rawValue: logged.positions.lowerBound)...JournalPosition(
          rawValue: logged.positions.upperBound),
      id: logged.mark?.id, time: logged.mark?.time, program: logged.mark?.program,
      process: logged.mark?.process, signature: logged.mark?.signature ?? TransactionSignature(),
      reverted: logged.mark?.reversal?.reverted, changes: changes,
      interruptions: interruptions)
  }
}

extension JournalChange {
  init(_ record: LoggedRecord, _ layout: JournalLayout, at position: Int64) {
    let fields: [FieldValues]
    switch record.kind {
    case .insert:
      operation = .insert
      fields = zip(layout.others, record.image).map {
        FieldValues(name: $0.name, old: nil, new: $1)
      }
    case .delete:
      operation = .delete
      fields = zip(layout.others, record.image).map {
        FieldValues(name: $0.name, old: $1, new: nil)
      }
    case .update:
      operation = .update
      fields = record.changes.map {
        FieldValues(name: layout.others[$0.place].name, old: $0.old, new: $0.new)
      }
    }
    self.fields = fields
    self.position = JournalPosition(rawValue: position)
    model = layout.model
    key = record.key
    detail = layout.detail
    malformedTexts = Set(
      record.malformedTexts.map { place in
        switch place {
        case .key(let index): .key(index)
        case .old(let place): .old(layout.others[place].name)
        case .new(let place): .new(layout.others[place].name)
        }
      })
  }
}

extension JournalTransaction {
  /// Who made the transaction, as ``WriteTransaction/sign(author:tag:)`` said.
  public var author: String? { signature.author }

  /// What the transaction was for, as ``WriteTransaction/sign(author:tag:)`` said.
  public var tag: String? { signature.tag }
}
