import ModelStore

/// The records of a transaction that refer to records which are not there yet. Those may come later
/// in the input, and may refer back.
struct WaitingRecords {
  typealias Item = Importing.Item

  private var items: [Item] = []

  var count: Int { items.count }

  /// Whether a record that was refused with `error` can be written after others.
  static func mayWait(_ error: any Error) -> Bool {
    guard let error = error as? StoreError, error.code == .rejected else { return false }
    return !error.violations.isEmpty && error.violations.allSatisfy { $0.kind == .reference }
  }

  mutating func add(_ item: Item) {
    items.append(item)
  }

  /// A record that was written.
  struct Written {
    var record: DynamicRecord
    /// Whether its key was not taken.
    var isNew: Bool

    fileprivate var place: DependentRecords.Place {
      DependentRecords.Place(model: record.schema.name, key: record.key)
    }
  }

  /// Some records cannot be written, so the others are rolled back too.
  private struct Refused: Error {
    /// By the places of the records in the input. First come the records that are refused by
    /// themselves; each later layer refers to the ones before it.
    var layers: [[Int: any Error]]
  }

  /// Writes all of them, with references checked at the end, or nothing.
  ///
  /// - Parameter write: Writes one record; returns nil if the import skips it.
  /// - Returns: The records that cannot be written, with the reasons: they do not wait any more.
  ///   When it is empty, all others are written.
  /// - Complexity: Where references are broken, reads every record once more. Records that refer to
  ///   refused ones are refused in the same call: ``DependentRecords``.
  mutating func write(
    in transaction: borrowing WriteTransaction,
    _ write: (Item, borrowing WriteTransaction) throws -> Written?
  ) throws -> [(item: Item, error: any Error)] {
    try transaction.deferReferenceChecks()
    do {
      try transaction.savepoint { transaction in
        let written = try writeAll(in: transaction, write)
        try Self.checkReferences(of: written, in: transaction)
      }
      items = []
      return []
    } catch let refused as Refused {
      let found = refused.layers.flatMap { layer in layer.sorted { $0.key < $1.key } }
      let places = Set(found.map(\.key))
      defer { items = items.indices.filter { !places.contains($0) }.map { items[$0] } }
      return found.map { (items[$0.key], $0.value) }
    }
  }

  /// A rule about a reference is not deferred, so the records that it refuses are tried again until
  /// no more of them succeed.
  ///
  /// - Returns: What was written, by the places of the records.
  private func writeAll(
    in transaction: borrowing WriteTransaction,
    _ write: (Item, borrowing WriteTransaction) throws -> Written?
  ) throws -> [Int: Written] {
    var written: [Int: Written] = [:]
    var left = Array(items.indices)
    while !left.isEmpty {
      var errors: [Int: any Error] = [:]
      for index in left {
        do {
          written[index] = try write(items[index], transaction)
        } catch let error as StoreError where RecordInput.refusals.contains(error.code) {
          errors[index] = error
        }
      }
      guard errors.count < left.count else { throw Refused(layers: [errors]) }
      left = errors.keys.sorted()
    }
    return written
  }

  private static func checkReferences(
    of written: [Int: Written], in transaction: borrowing WriteTransaction
  ) throws {
    do {
      try transaction.checkReferences()
    } catch let error as StoreError where error.code == .rejected {
      struct BrokenPlace: Hashable {
        let model: String
        let key: [SQLValue]?
      }
      let broken = Dictionary(grouping: error.violations) {
        BrokenPlace(model: $0.model, key: $0.key)
      }
      func refusal(_ violations: [Violation], _ place: DependentRecords.Place) -> StoreError {
        var refusal = error
        refusal.violations = violations
        refusal.key = place.key
        return refusal
      }
      var errors: [Int: any Error] = [:]
      for (index, record) in written {
        let place = record.place
        guard let own = broken[BrokenPlace(model: place.model, key: place.key)] else { continue }
        errors[index] = refusal(own, place)
      }
      // References of records outside the import may be broken too.
      guard !errors.isEmpty else { throw error }
      let remedy = error.violations.first?.remedy
      let indices = Dictionary(grouping: written.keys) { written[$0]?.place }
      let layers = try dependents(of: errors.keys, among: written, in: transaction)
        .map { layer in
          var errors: [Int: any Error] = [:]
          for (place, links) in layer {
            let violations = links.map { Violation(missingFor: $0, remedy: remedy) }
            for index in indices[place] ?? [] { errors[index] = refusal(violations, place) }
          }
          return errors
        }
      throw Refused(layers: [errors] + layers)
    }
  }

  /// The records that can only be written together with refused ones.
  private static func dependents(
    of refused: some Sequence<Int>, among written: [Int: Written],
    in transaction: borrowing WriteTransaction
  ) throws -> [[DependentRecords.Place: [DependentRecords.Link]]] {
    var records: [DependentRecords.Place: DynamicRecord] = [:]
    var new: Set<DependentRecords.Place> = []
    for record in written.values {
      let place = record.place
      if record.isNew { new.insert(place) }
      guard records[place] == nil else { continue }
      // Later records and their triggers may have changed it.
      records[place] = try OpenedStore.reading {
        try transaction.find(record.record.schema, key: place.key)
      }
    }
    return DependentRecords(records, isNew: new.contains)
      .layers(after: Set(refused.compactMap { written[$0]?.place }))
  }
}

extension Violation {
  /// The library's message for a reference to a missing record.
  fileprivate init(missingFor link: DependentRecords.Link, remedy: String?) {
    self.init(
      kind: .reference, model: link.place.model, key: link.place.key, fields: [link.field],
      rule: "\(link.place.model).\(link.field).reference",
      message: "must name an existing \(link.target)", remedy: remedy)
  }
}
