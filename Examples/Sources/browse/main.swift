import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Shows any SQLite database without knowing its types:
//   browse FILE                    what is in it
//   browse FILE MODEL [CONDITION]  the first records for which the condition holds

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first else {
  print("usage: browse FILE [MODEL [CONDITION]]")
  throw StoreError(.misuse, "Name a database file.")
}

var configuration = StoreConfiguration()
configuration.access = .readOnly
let store = try Store(at: path, configuration: configuration)

// Models that the file itself describes, and tables that could be adopted.
var models = store.schema.models
models += try store.adoptableTables().compactMap(\.schema)

if let name = arguments.dropFirst().first {
  guard let model = models.first(where: { $0.name == name }) else {
    throw StoreError(.unknownModel, "There is no \(name) in \(path).", model: name)
  }
  var query = StoreQuery<DynamicRecord>(model).limit(10)
  if let text = arguments.dropFirst(2).first {
    let parser = PredicateParser(schema: model, now: .now)
    query = query.filter(matching: try parser.predicate(parsing: text))
  }
  for record in try store.fetch(query) {
    let fields = zip(model.fields, record.values).map { field, value in
      "\(field.name) \(field.text(of: value))"
    }
    print(fields.joined(separator: " · "))
  }
} else {
  for model in models {
    let count = try store.read { tx in try tx.count(StoreQuery<DynamicRecord>(model)) }
    print("\(model.name): \(count) records, key \(model.key.joined(separator: ", "))")
  }
  for table in try store.adoptableTables() where !table.name.hasPrefix("_ms_") {
    if let reason = table.reason { print(reason) }
  }
}
