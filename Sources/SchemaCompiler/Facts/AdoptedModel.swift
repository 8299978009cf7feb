/// An adopted model, compared with the current state of the table or view that it was made from. It
/// works on values and never reads the file.
package struct AdoptedModel: Hashable, Sendable {
  /// The catalog entry as it should be now.
  enum Renewal: Hashable, Sendable {
    /// The model that adoption would make of the table, with the types of unchanged columns
    /// preserved. Equals the entry if nothing changed.
    case model(ModelSchema)
    /// The table is gone or can no longer be a model.
    case gone
  }

  /// The catalog's entry.
  package let entry: ModelSchema
  let renewal: Renewal
  /// The fields whose types are determined again from their declarations: new columns, and columns
  /// with another declared type.
  package let undecided: Set<String>
  /// The differences; nil if there are none that matter.
  package let drift: SchemaDrift?
  /// The names of the entry's lists that are no longer possible.
  package let lostLists: [String]

  /// The renewed model; nil when the model leaves the store.
  package var schema: ModelSchema? {
    if case .model(let schema) = renewal { schema } else { nil }
  }

  /// Whether statements and triggers made from the entry fail.
  package var isBroken: Bool {
    guard let schema else { return true }
    return schema.kind != entry.kind
      || drift?.differences.contains { $0.reason == .missing } ?? false
  }

  /// Whether the entry must be written or removed.
  package var isOutdated: Bool { schema != entry }

  private init(
    _ entry: ModelSchema, _ renewal: Renewal, undecided: Set<String> = [],
    lostLists: [String] = [], _ differences: [SchemaDrift.Difference]
  ) {
    self.entry = entry
    self.renewal = renewal
    self.undecided = undecided
    self.lostLists = lostLists
    drift = differences.isEmpty ? nil : SchemaDrift(.model(entry.name), differences)
  }
}

extension AdoptedModel {
  /// Returns all adopted models among `entries`, in their order.
  ///
  /// - Parameter entries: All entries of the file's catalog.
  package static func all(_ entries: [ModelSchema], in catalog: Catalog) -> [AdoptedModel] {
    let adopted = entries.filter(\.isAdopted)
    let slotNames = Set(
      adopted.flatMap { owner in owner.lists.map { $0.slotModelName(of: owner) } })
    var renewed: [String: AdoptedModel] = [:]
    for entry in adopted where !slotNames.contains(entry.name) {
      renewed[entry.name] = AdoptedModel(entry, in: catalog)
    }
    let others = entries.filter { !$0.isAdopted } + renewed.values.compactMap(\.schema)
    for entry in adopted where !entry.lists.isEmpty {
      let lost = renewLists(of: entry, beside: others, entries, in: catalog, &renewed)
      if !lost.isEmpty { renewed[entry.name] = renewed[entry.name]?.losing(lost) }
    }
    return adopted.map { entry in
      renewed[entry.name]
        ?? AdoptedModel(
          entry, .gone,
          [
            SchemaDrift.Difference(
              .table, entry.table, .changed,
              sentence: "The table \(entry.table) cannot hold the slots of a list any more.")
          ])
    }
  }

  /// Renews the models that hold the slots of lists of `entry`.
  ///
  /// - Returns: The reasons why lists are no longer possible.
  private static func renewLists(
    of entry: ModelSchema, beside others: [ModelSchema], _ entries: [ModelSchema],
    in catalog: Catalog, _ renewed: inout [String: AdoptedModel]
  ) -> [SchemaDrift.Difference] {
    guard let owner = renewed[entry.name]?.schema else { return [] }
    var lost: [SchemaDrift.Difference] = []
    for list in entry.lists {
      let name = list.slotModelName(of: owner)
      var single = owner
      single.lists = [list]
      do {
        let slots = try [single].withAdoptedSlots(in: { catalog }, beside: others).last
        for entry in entries where entry.name == name {
          renewed[name] = slots.map { AdoptedModel(entry, as: $0, in: catalog) }
        }
      } catch {
        let reason = (error as? StoreError)?.message ?? "\(error)"
        lost.append(
          SchemaDrift.Difference(
            .table, list.slotTable, .changed,
            sentence: "The list \(list.name) cannot be kept. \(reason)"))
      }
    }
    return lost
  }

  private init(_ entry: ModelSchema, in catalog: Catalog) {
    guard let table = catalog.table(named: entry.table) else {
      self.init(entry, .gone, [Self.missing(entry, in: catalog)])
      return
    }
    let reading = TableReading(table: table, catalog: catalog)
    if let reason = reading.refusal ?? reading.renewed(entry).reason {
      let difference = SchemaDrift.Difference(.table, table.name, .changed, sentence: reason)
      self.init(entry, .gone, [difference])
    } else {
      self.init(entry, as: reading.renewed(entry).schema ?? entry, in: catalog)
    }
  }

  /// - Parameter fresh: The model that adoption makes of the table from its declarations alone.
  private init(_ entry: ModelSchema, as fresh: ModelSchema, in catalog: Catalog) {
    var schema = fresh
    schema.lists = entry.lists
    var undecided: Set<String> = []
    for index in schema.fields.indices {
      let field = schema.fields[index]
      let known = entry.fields.first { $0.column.asciiFolded == field.column.asciiFolded }
      if let known, schema.keeps(known, in: field, catalog) {
        schema.fields[index].type = known.type
        schema.fields[index].form = known.form
        schema.fields[index].declaredType = known.declaredType
        if (known.declaredType ?? "") != (field.declaredType ?? "") {
          schema.fields[index].declaredType = field.declaredType ?? ""
        }
      } else {
        undecided.insert(field.name)
      }
    }
    let differences = AdoptedDifferences(entry: entry, renewed: schema, fresh: fresh).all
    self.init(entry, .model(schema), undecided: undecided, differences)
  }

  /// Returns the difference for a missing table, with the name that it seems to have now.
  private static func missing(
    _ entry: ModelSchema, in catalog: Catalog
  ) -> SchemaDrift.Difference {
    // Triggers stay with their table when it is renamed.
    let prefix = "_ms_journal_\(entry.name)_"
    let renamed = catalog.tables.first { table in
      table.triggers.contains { $0.name.hasPrefix(prefix) }
    }
    return SchemaDrift.Difference(
      .table, entry.table, .missing,
      sentence: renamed.map { "The table \(entry.table) is called \($0.name) now." }
        ?? "The table \(entry.table) is gone.")
  }

  /// Returns the model without the lists in `lost`.
  private func losing(_ lost: [SchemaDrift.Difference]) -> AdoptedModel {
    guard var schema else { return self }
    let tables = Set(lost.map(\.name))
    let names = schema.lists.filter { tables.contains($0.slotTable) }.map(\.name)
    schema.lists.removeAll { tables.contains($0.slotTable) }
    return AdoptedModel(
      entry, .model(schema), undecided: undecided, lostLists: names,
      (drift?.differences ?? []) + lost)
  }
}

extension TableReading {
  /// Returns the model that adoption makes of the table from its declarations alone.
  ///
  /// - Parameter entry: Needed for a primary key that accepts NULL. A model with another key was
  ///   adopted while a row held NULL, and keeps its key.
  fileprivate func renewed(_ entry: ModelSchema) -> AdoptableTable {
    guard table.kind == .table else { return view(notes: []) }
    let nullable = nullableKey
    let avoidsPrimaryKey = entry.kind == .table && entry.key != table.primaryKey.map(\.name)
    return self.table(
      nullableKey: nullable, holdsNull: !nullable.isEmpty && avoidsPrimaryKey, warnings: [])
  }
}

extension ModelSchema {
  /// Returns whether the column of `field` still has the meaning that the catalog entry `known`
  /// gives it.
  ///
  /// Another declared type means something else. It keeps its meaning only if the owner of the file
  /// chose the meaning and the column still holds values of it.
  fileprivate func keeps(_ known: FieldSchema, in field: FieldSchema, _ catalog: Catalog) -> Bool {
    guard let table = catalog.table(named: self.table) else { return false }
    let declared = field.declaredType ?? ""
    let isSame = declared.asciiFolded == (known.declaredType ?? "").asciiFolded
    guard isSame || known.hasChosenType else { return false }
    guard kind == .table, let column = table.column(named: field.column) else { return isSame }
    return TableComparison(schema: self, table: table, catalog: catalog)
      .isTypeKept(known, in: column)
  }
}

extension FieldSchema {
  /// Whether only the owner of the file can have chosen the type, because the declaration alone
  /// yields another one.
  fileprivate var hasChosenType: Bool {
    let declared = declaredType ?? ""
    guard DeclaredMeaning(declaredType: declared) == nil else { return false }
    return form != nil || type != ColumnAffinity(declaredType: declared).fieldType
  }
}
