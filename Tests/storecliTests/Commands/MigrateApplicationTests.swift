import ModelStore
import StoreCommand
import Testing

/// A thing to do, as an earlier version of an application declared it.
private struct OlderTodo: Model {
  var id: Int64
  var title: String?
  var note: String?

  static let definition = ModelDefinition<OlderTodo>(
    "Todo", key: \.id, fields: [.init("id", \.id), .init("title", \.title), .init("note", \.note)])

  var key: Int64 { id }

  init(id: Int64, title: String?, note: String?) {
    self.id = id
    self.title = title
    self.note = note
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    note = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try note.encode(to: &arguments, at: 2)
  }
}

private struct Todo: Model {
  var id: Int64
  var title: String
  var due: String?

  static let definition = ModelDefinition<Todo>(
    "Todo", key: \.id, fields: [.init("id", \.id), .init("title", \.title), .init("due", \.due)])

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    due = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try due.encode(to: &arguments, at: 2)
  }
}

/// `migrate` in an application's own command line, with its models and migrations.
@Suite(.tags(.process)) struct MigrateApplicationTests {
  /// A database of the earlier version, with two records.
  private func place(titles: [String?]) throws -> Workplace {
    let place = try Workplace()
    place.time = 1_787_220_900_000_000
    let store = try Store(at: place.path("app.db"), models: OlderTodo.self)
    try store.write { tx in
      for (number, title) in titles.enumerated() {
        try tx.insert(OlderTodo(id: Int64(number), title: title, note: "n"))
      }
    }
    store.close()
    return place
  }

  private func run(
    _ words: String..., in place: Workplace, migrations: [Migration] = []
  ) throws -> Outcome {
    try place.run(
      Program(
        name: "todo", arguments: ["migrate"] + words, database: place.path("app.db"),
        models: Todo.self, migrations: migrations,
        configuration: StoreConfiguration(schemaChanges: .migrate)))
  }

  private let dropNote = Migration(
    version: 1, name: "drop_note", sql: "ALTER TABLE Todo DROP COLUMN note;")

  @Test func planShowsMigrationsAndWhatTheModelsNeedAfterThem() throws {
    let place = try place(titles: ["a", nil])
    let without = try run("plan", in: place)
    #expect(without.code == 2, "\(without)")
    #expect(without.out.contains("loses    The values of the column note in Todo."), "\(without)")
    let plan = try run("plan", in: place, migrations: [dropNote])
    #expect(plan.code == 2, "\(plan)")
    #expect(
      plan.out.replacing(#/ {2,}/#, with: " ") == """
        1 pending
        run 1 drop_note 1 statement
        in place Todo.due add optional text
        blocked Todo.title NOT NULL Records violate NOT NULL. 1 record: Todo 1
         -> storecli query Todo 'title is null'
        loses The values of Todo.note are deleted.

        """, "\(plan.out)")
    #expect(plan.err.contains("reversible: no") && plan.err.contains("blocked"))
    #expect(try place.columns(of: "Todo") == "id,title,note")
  }

  @Test func upAppliesMigrationsAndTheModels() throws {
    let place = try place(titles: ["a", "b"])
    #expect(try run("up", in: place, migrations: [dropNote]).code == 64)
    let up = try run("up", "--yes", in: place, migrations: [dropNote])
    #expect(up.code == 0, "\(up)")
    #expect(up.err.contains("The values of Todo.note are deleted: 2 values."))
    #expect(up.err.contains("applied 1 drop_note"))
    #expect(up.err.contains("changed Todo.title NOT NULL"))
    #expect(try place.columns(of: "Todo") == "id,title,due")
    #expect(try run("status", in: place, migrations: [dropNote]).code == 0)
    #expect(try run("plan", in: place, migrations: [dropNote]).code == 0)
    #expect(
      try run("up", in: place, migrations: [dropNote]).err
        == "nothing to do: the database has had 1 migration, up to 1\n")
  }

  @Test func upStopsWithStatusTwoIfTheModelsNeedMore() throws {
    let place = try place(titles: ["a", nil])
    let up = try run("up", "--yes", in: place, migrations: [dropNote])
    #expect(up.code == 2, "\(up)")
    #expect(up.err.contains("applied 1 drop_note") && up.err.contains("Todo.title NOT NULL"))
  }

  @Test func diffWritesWhatOpeningDoesNotDo() throws {
    let place = try place(titles: ["a", "b"])
    let open = try run("diff", in: place)
    #expect(open.code == 2 && open.err.contains("--rename Todo.note=due"), "\(open)")
    let diff = try run("diff", "change note", "--drop", "Todo.note", in: place)
    #expect(diff.code == 0, "\(diff)")
    #expect(diff.out.hasSuffix("-- down: irreversible\n"), "\(diff.out)")
    let text = try place.contents(of: "Migrations/20260820101500_change_note.sql")
    #expect(text == diff.out)
    let statements = text.split(separator: "-- up\n")[1].split(separator: "-- down")[0]
    let migration = Migration(version: 1, name: "change_note", sql: String(statements))
    let up = try run("up", "--yes", in: place, migrations: [migration])
    #expect(up.code == 0 && !up.err.contains("changed "), "\(up)")
    #expect(
      try RawDatabase(place.path("app.db")).value("SELECT group_concat(title) FROM Todo") == "a,b")
  }

  @Test func diffFollowsARename() throws {
    let place = try place(titles: ["a", "b"])
    let diff = try run("diff", "--rename", "Todo.note=due", "-n", in: place)
    #expect(diff.code == 2)
    #expect(diff.out.contains(#"RENAME COLUMN "note" TO "due";"#), "\(diff.out)")
    #expect(!diff.out.contains("are deleted"))
  }
}
