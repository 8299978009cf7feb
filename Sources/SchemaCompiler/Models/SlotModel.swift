/// A model whose records are the slots of ordered lists, and which of its fields says what.
package struct SlotModel: Hashable, Sendable {
  package let schema: ModelSchema
  /// The positions of the fields that hold the slot's number, the owner's key, what orders the
  /// slots of one owner, and the element's key.
  package let slot: Int
  package let owner: Int
  package let label: Int
  package let element: Int

  /// Whether the table is of another design. There, a row is in no list as long as its position is
  /// no integer, or its element is NULL.
  package var isAdopted: Bool { schema.isAdopted }

  package var name: String { schema.name }

  /// For rows that SQLite gave in another order than it was asked for.
  package var disorder: StoreError {
    StoreError(
      .corrupt,
      "SQLite did not give the slots of \(name) in order, or gave one twice, so an index of the file is damaged. Check the file, and run REINDEX.",
      model: name)
  }

  /// - Returns: nil when `schema` lacks one of the fields.
  init?(_ schema: ModelSchema, of list: ListSchema) {
    func index(_ column: String) -> Int? {
      let folded = ExactText(column.asciiFolded)
      return schema.fields.firstIndex { ExactText($0.column.asciiFolded) == folded }
    }
    guard let slot = schema.rowIDFieldIndex,
      let owner = index(list.columns?.owner ?? ListSchema.Field.owner),
      let label = index(list.columns?.position ?? ListSchema.Field.label),
      let element = index(list.columns?.element ?? ListSchema.Field.element)
    else { return nil }
    self.schema = schema
    self.slot = slot
    self.owner = owner
    self.label = label
    self.element = element
  }
}
