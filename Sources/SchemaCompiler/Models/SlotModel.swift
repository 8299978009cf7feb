/// A model whose records are the slots of ordered lists, with the roles of its fields.
package struct SlotModel: Hashable, Sendable {
  package let schema: ModelSchema
  /// The positions of four fields: the slot's number, the owner's key, the label that orders the
  /// slots of one owner, and the element's key.
  package let slot: Int
  package let owner: Int
  package let label: Int
  package let element: Int

  /// Whether the table is adopted. In such a table, a row is in no list while its position is not
  /// an integer or its element is NULL.
  package var isAdopted: Bool { schema.isAdopted }

  package var name: String { schema.name }

  /// The error for rows that SQLite returned in another order than requested.
  package var disorder: StoreError {
    StoreError(
      .corrupt,
      "SQLite returned slots of \(name) out of order, or one slot twice, so an index of the file is damaged. Check the file, and run REINDEX.",
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
