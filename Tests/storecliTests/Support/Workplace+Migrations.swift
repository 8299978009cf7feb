extension Workplace {
  /// A directory with `Migrations`, whose runs happen on 2026-08-20 at 10:15:00 UTC and use
  /// `app.db`.
  static func withMigrations(_ files: [String: String] = [:]) throws -> Workplace {
    let place = try Workplace()
    place.time = 1_787_220_900_000_000
    place.environment["STORECLI_DB"] = place.path("app.db")
    try place.makeDirectory("Migrations")
    for (name, text) in files { try place.write(text, to: "Migrations/\(name).sql") }
    return place
  }

  /// Two migrations of a list of things to do: a table, then a column.
  static let todo = ["1_create_todo": createTodo, "2_add_due": addDue]

  static let createTodo = """
    -- up
    CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;
    CREATE INDEX by_title ON Todo (title);

    -- down
    DROP TABLE Todo;

    """

  static let addDue = """
    -- up
    ALTER TABLE Todo ADD COLUMN due TEXT;

    -- down
    ALTER TABLE Todo DROP COLUMN due;

    """

  /// The columns of a table, as another program sees them.
  func columns(of table: String) throws -> String {
    try RawDatabase(path("app.db"))
      .value("SELECT coalesce(group_concat(name), '') FROM pragma_table_info('\(table)')")
  }
}
