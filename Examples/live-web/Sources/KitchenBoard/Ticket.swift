import ModelStore

/// One order that a restaurant's kitchen has to cook. A ticket that is served is deleted.
///
/// Its rules are in the file, so every program obeys them.
package struct Ticket: CodableModel, Hashable {
  /// How far the kitchen is.
  package enum Stage: String, ColumnValue, Codable, CaseIterable {
    case waiting, cooking, ready
  }

  package var id: Int64
  package var dish: String
  package var tableNumber: Int
  package var portions: Int
  package var stage: Stage
  package var isUrgent: Bool
  package var key: Int64 { id }

  package static let definition = ModelDefinition<Ticket>(
    "Ticket", key: \.id,
    fields: [
      .init("id", \.id),
      .init("dish", \.dish, rules: [.notBlank, .length(1...40)]),
      .init("tableNumber", \.tableNumber, rules: [.range(1...30)]),
      .init("portions", \.portions, defaultSQL: "1", rules: [.range(1...12)]),
      .init(
        "stage", \.stage, defaultSQL: "'waiting'",
        rules: [.oneOf(Stage.allCases.map(\.rawValue))]),
      .init("isUrgent", \.isUrgent, defaultSQL: "0"),
    ],
    // A table does not order the same dish twice: raise the portions instead.
    uniques: [[\.tableNumber, \.dish]])

  package init(
    id: Int64 = 0, dish: String, tableNumber: Int, portions: Int = 1, stage: Stage = .waiting,
    isUrgent: Bool = false
  ) {
    self.id = id
    self.dish = dish
    self.tableNumber = tableNumber
    self.portions = portions
    self.stage = stage
    self.isUrgent = isUrgent
  }
}

extension Ticket {
  /// What the board shows: urgent tickets first, then in the order of the tickets.
  package static let board = Ticket.all.order {
    $0.isUrgent.descending
    $0.id
  }

  /// If everything is urgent, nothing is. The sum counts the tickets that are.
  static let fewUrgent = Rule.sum(\Ticket.isUrgent, atMost: 3, name: "Ticket.fewUrgent")
}

extension Store {
  /// Opens the kitchen's store at `path`.
  package static func kitchen(at path: String) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    configuration.journalRetention = JournalRetention(maxEntryCount: 100_000)
    return try Store(
      at: path, models: Ticket.self, rules: [Ticket.fewUrgent], configuration: configuration)
  }

  /// Inserts the tickets of an evening, if the store has none.
  package func openKitchen() async throws {
    try await write { tx in
      guard try tx.count(Ticket.all) == 0 else { return }
      tx.sign(author: "kitchen")
      let dishes: [(String, Int, Int, Ticket.Stage)] = [
        ("Mushroom risotto", 4, 2, .ready), ("Grilled sea bream", 4, 1, .cooking),
        ("Onion soup", 9, 3, .cooking), ("Gnocchi with sage", 2, 1, .waiting),
        ("Lamb shoulder", 11, 2, .waiting), ("Apple tart", 7, 4, .waiting),
        ("Lemon sorbet", 2, 1, .waiting),
      ]
      for (dish, table, portions, stage) in dishes {
        _ = try tx.insert(
          generatingKey: Ticket(
            dish: dish, tableNumber: table, portions: portions, stage: stage))
      }
    }
  }
}
