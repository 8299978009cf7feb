/// One transaction in the change journal, or the changes of other programs between two transactions
/// of stores.
///
/// A store adds a commit record to each of its transactions, but other programs do not. So the
/// journal cannot separate the commits of other programs: all their changes between two store
/// transactions are one value. Changes that another program commits after the read are in the next
/// value. More than about 4,000 positions are split into several values.
public struct JournalTransaction: Hashable, Sendable {
  /// The positions of its entries. To read what follows, continue after the upper bound.
  public let positions: ClosedRange<JournalPosition>
  /// The identifier of the transaction; nil for changes of other programs.
  public let id: TransactionID?
  /// The time shortly before its commit, by the clock of its machine, in microseconds since
  /// 1970-01-01 00:00:00 UTC. It is nil for changes of other programs. Positions give the order;
  /// times may not.
  package let time: Int64?
  /// The name of the program; nil for changes of other programs.
  public let program: String?
  /// The process identifier; nil for changes of other programs.
  public let process: Int64?
  /// The values of ``WriteTransaction/sign(author:tag:)``.
  package let signature: TransactionSignature
  /// The transaction that this one undid, if any.
  public let reverted: TransactionID?
  /// All changes in their order, including several changes of one record. A change of a key is a
  /// deletion and an insertion.
  public let changes: [JournalChange]
  /// The places where recording of a model began or ended, in order of position.
  package let interruptions: [JournalInterruption]

  /// The models whose recording began or ended here, so that changes may be missing, in name order.
  public var gaps: [String] { Set(interruptions.map(\.model)).sorted() }

  /// Whether another program made the changes, or a store whose journal was disabled.
  public var isForeign: Bool { id == nil }
}

/// A place where the recording of a model began or ended: the journal was enabled or disabled, or
/// damaged triggers were recreated.
package struct JournalInterruption: Hashable, Sendable {
  /// The side of the place on which changes may be missing.
  package enum Kind: Hashable, Sendable {
    /// Before it. The journal does not say since when.
    case started
    /// After it, until the next ``started`` of the model.
    case stopped
  }

  /// The position in the journal.
  package let position: JournalPosition
  /// The model's name.
  package let model: String
  /// The kind of interruption.
  package let kind: Kind
}

/// One change of one record in the change journal.
public struct JournalChange: Hashable, Sendable {
  /// The old and the new value of a field.
  public struct FieldValues: Hashable, Sendable {
    /// The field's name at that time.
    public let name: String
    /// The old value; nil for an insertion.
    public let old: SQLValue?
    /// The new value; nil for a deletion.
    public let new: SQLValue?
  }

  /// The position in the journal; unique in the file.
  public let position: JournalPosition
  /// The model's name.
  public let model: String
  /// The values of the record's key, in key order.
  public let key: [SQLValue]
  /// The operation on the record.
  public let operation: RecordChange.Operation
  /// For an update, the fields that differ; otherwise all fields. In field order, without the key
  /// fields. Empty if the journal records only keys.
  public let fields: [FieldValues]
  /// How much of the change was recorded.
  public let detail: JournalDetail
  /// The binding that made the change, if known. The change updates only a field of the binding,
  /// and the same transaction changed a field that the binding reads before.
  ///
  /// The journal records changes without their causes, so the binding is inferred from the current
  /// bindings. It is nil in all other cases, for example:
  ///
  /// - Several bindings of the field may have made the change.
  /// - The binding was dropped or replaced since. If another binding of the field reads the same
  ///   fields, it is that one.
  /// - The change came from adding or rebuilding a binding.
  /// - The change reacted to a write to the field itself.
  public internal(set) var binding: String?
  /// The values that were texts but not UTF-8, which other programs may write. They are blobs with
  /// the same bytes here. A change with such values cannot be undone.
  package let malformedTexts: Set<MalformedText>

  /// The location of a value in a change.
  package enum MalformedText: Hashable, Sendable {
    /// The index in ``JournalChange/key``.
    case key(Int)
    /// The name of a field, for its old value.
    case old(String)
    /// The name of a field, for its new value.
    case new(String)
  }

  /// Returns the field called `name`; nil if it is not in ``fields``.
  public subscript(name: String) -> FieldValues? {
    fields.first { $0.name == name }
  }
}

extension JournalTransaction {
  /// - Parameters:
  ///   - filter: The filter for the changes.
  ///   - bindings: The bindings that may have made changes.
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
      case .began, .transaction: break
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
  /// The author of the transaction, as set by ``WriteTransaction/sign(author:tag:)``.
  public var author: String? { signature.author }

  /// The tag of the transaction, as set by ``WriteTransaction/sign(author:tag:)``.
  public var tag: String? { signature.tag }
}
