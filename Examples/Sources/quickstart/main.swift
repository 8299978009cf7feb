import ModelStore

struct Note: CodableModel {
  var id: Int64
  var text: String
  var key: Int64 { id }
  static let definition = ModelDefinition<Note>(
    "Note", key: \.id, fields: [.init("id", \.id), .init("text", \.text)])
}

let store = try Store(at: "notes.store", models: Note.self)
let notes = try store.liveQuery(Note.all.order { $0.text })
let token = try notes.observe { changes in
  for row in changes.insertions { print("inserted at \(row.index): \(row.record.text)") }
  for row in changes.moves { print("moved \(row.oldIndex) → \(row.newIndex)") }
}

try store.write { tx in
  try tx.upsert(Note(id: 1, text: "Buy milk"))
  try tx.upsert(Note(id: 2, text: "Call Ada"))
}
try store.write { tx in try tx.set(\Note.text, to: "Drink milk", for: 1) }
store.waitForDelivery()
print(try store.fetch(notes.query).map(\.text))
