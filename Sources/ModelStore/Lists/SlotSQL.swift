/// The statements that read and change the slots of one record's list.
struct SlotSQL {
  let owner: SQLValue
  private let table: SQLText
  private let slot: SQLText
  private let label: SQLText
  private let element: SQLText
  private let ofOwner: SQLText
  private let labelled: SQLText
  private let inOrder: SQLText
  private let ownerColumn: SQLText
  private let fields: SQLText

  init(_ slots: SlotModel, owner: SQLValue) {
    func column(_ field: Int) -> SQLText {
      SQLText(sql: SQLText.quoted(slots.schema.fields[field].column))
    }
    self.owner = owner
    table = "main.\(identifier: slots.schema.table)"
    slot = column(slots.slot)
    label = column(slots.label)
    element = column(slots.element)
    fields = SQLText(sql: SQLText.quotedList(slots.schema.fields.map(\.column)))
    ownerColumn = column(slots.owner)
    let all: SQLText = "FROM \(table) WHERE \(ownerColumn) = \(owner)"
    labelled = slots.isAdopted ? "\(all) AND typeof(\(label)) = 'integer'" : all
    ofOwner = slots.isAdopted ? "\(labelled) AND \(element) IS NOT NULL" : all
    inOrder = "ORDER BY \(label), \(slot)"
  }

  // Reading

  var count: SQLText { "SELECT count(*) \(ofOwner)" }

  /// Label and slot of every element, in order.
  var places: SQLText { "SELECT \(label), \(slot) \(ofOwner) \(inOrder)" }

  /// Every element, in order.
  var elements: SQLText { "SELECT \(element) \(ofOwner) \(inOrder)" }

  /// Label, slot and element, in order.
  var contents: SQLText { "SELECT \(label), \(slot), \(element) \(ofOwner) \(inOrder)" }

  /// Every field of the slots' model, in order.
  var rows: SQLText { "SELECT \(fields) \(ofOwner) \(inOrder)" }

  var lastPlace: SQLText {
    "SELECT \(label), \(slot) \(ofOwner) ORDER BY \(label) DESC, \(slot) DESC LIMIT 1"
  }

  /// The greatest label of the owner's rows that are in no list, if there may be such rows.
  var lastOutsideLabel: SQLText {
    "SELECT \(label) \(labelled) AND \(element) IS NULL ORDER BY \(label) DESC LIMIT 1"
  }

  /// The labels of such rows from `least` on, ascending.
  func outsideLabels(from least: Int64) -> SQLText {
    """
    SELECT \(label) \(labelled) AND \(element) IS NULL AND \(label) >= \(least)
    ORDER BY \(label)
    """
  }

  func element(of number: Int64) -> SQLText {
    "SELECT \(element) FROM \(table) WHERE \(slot) = \(number)"
  }

  /// Whether the slot holds `key`, compared as in the column.
  func isElement(_ key: SQLValue, of number: Int64) -> SQLText {
    "SELECT \(element) IS \(key) FROM \(table) WHERE \(slot) = \(number)"
  }

  /// Label and slot of every occurrence, in order.
  func occurrences(of key: SQLValue) -> SQLText {
    "SELECT \(label), \(slot) \(ofOwner) AND \(element) = \(key) \(inOrder)"
  }

  /// A slot number greater than all existing ones.
  func unusedSlot(atLeast least: Int64) -> SQLText { "SELECT \(unused(least))" }

  // Changing

  /// Inserts a slot with a number greater than all existing ones.
  func insert(_ key: SQLValue, label place: Int64, slotAtLeast least: Int64) -> SQLText {
    """
    INSERT INTO \(table) (\(slot), \(ownerColumn), \(label), \(element))
    VALUES (\(unused(least)), \(owner), \(place), \(key))
    """
  }

  /// Replaces the slot by a new one with another element in the same place.
  func replace(_ number: Int64, by other: Int64, with key: SQLValue) -> SQLText {
    """
    UPDATE \(table)
    SET \(slot) = \(other), \(element) = \(key)
    WHERE \(slot) = \(number)
    """
  }

  /// Sets another element in the same slot.
  func setElement(_ key: SQLValue, of number: Int64) -> SQLText {
    "UPDATE \(table) SET \(element) = \(key) WHERE \(slot) = \(number)"
  }

  func setLabel(_ place: Int64, of number: Int64) -> SQLText {
    "UPDATE \(table) SET \(label) = \(place) WHERE \(slot) = \(number)"
  }

  func exchange(_ first: ListPlace, _ second: ListPlace) -> SQLText {
    """
    UPDATE \(table)
    SET \(label) = CASE \(slot) WHEN \(first.slot) THEN \(second.label) ELSE \(first.label) END
    WHERE \(slot) IN (\(first.slot), \(second.slot))
    """
  }

  func delete(_ number: Int64) -> SQLText {
    "DELETE FROM \(table) WHERE \(slot) = \(number)"
  }

  func deleteAll() -> SQLText { "DELETE \(ofOwner)" }

  func deleteOccurrences(of key: SQLValue) -> SQLText {
    "DELETE \(ofOwner) AND \(element) = \(key)"
  }

  /// Deletes from one place to another, both included.
  func delete(from first: ListPlace, through last: ListPlace) -> SQLText {
    """
    DELETE \(ofOwner)
    AND (\(label), \(slot)) >= (\(first.label), \(first.slot))
    AND (\(label), \(slot)) <= (\(last.label), \(last.slot))
    """
  }

  private func unused(_ least: Int64) -> SQLText {
    "max(\(least), (SELECT coalesce(max(\(slot)), 0) + 1 FROM \(table)))"
  }
}
