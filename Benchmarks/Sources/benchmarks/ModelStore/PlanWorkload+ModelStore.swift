import ModelStore

/// ``NumberedItem`` with a rule: its table has to be copied.
struct RevisedItem<Number: Numeral>: Model {
  var item: NumberedItem<Number>

  static var definition: ModelDefinition<Self> {
    NumberedItems.definition {
      ModelDefinition(
        "Item\(Number.value)", key: \.item.id,
        fields: [
          .init("id", \.item.id), .init("value", \.item.value, rules: [.range(0...)]),
          .init("title", \.item.title), .init("derived", \.item.derived),
        ])
    }
  }

  var key: Int64 { item.id }

  init(row: borrowing RowView) throws {
    item = try NumberedItem(row: row)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try item.encode(to: &arguments)
  }
}

extension PlanWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("ModelStore, nothing to change", NumberedItems.types(modelCount), stepCount: 0),
      contender(
        "ModelStore, a new rule in each", NumberedItems.revisedTypes(modelCount),
        stepCount: modelCount),
    ]
  }

  private func contender(
    _ name: String, _ models: [any Model.Type], stepCount: Int
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = try StoreOpeningWorkload(
        modelCount: modelCount, bindingCount: 0, openingCount: 0
      ).file(in: directory)
      let store = try Store(at: path)
      let policy = try store.policy()
      store.close()
      return Session(policy: policy) {
        Measurement(
          try Stopwatch.each(limit: planCount) { _ in
            let found = try stepCountOfPlan(at: path, models)
            guard found == stepCount else {
              throw BenchmarkFailure("The plan has \(found) steps, not \(stepCount).")
            }
          })
      }
    }
  }

  private func stepCountOfPlan(at path: String, _ models: [any Model.Type]) throws -> Int {
    try Store.migrationPlan(at: path, models: models).steps.count
  }
}
