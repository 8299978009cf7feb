internal import Testing

@testable internal import SchemaCompiler

/// Editing the text of a table leaves everything else in it alone.
@Suite(.tags(.unit)) struct TableEditTests {
  private static let text = """
    CREATE TABLE Todo ( -- the list
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      title TEXT DEFAULT ('a, b)') COLLATE NOCASE, -- what to do
      "done" INTEGER NOT NULL /* 0 or 1 */ CHECK ("done" IN (0, 1)),
      list INTEGER REFERENCES List (id) ON DELETE SET NULL,
      place NVARCHAR (160) UNIQUE NOT NULL,
      shout TEXT AS (upper(title)) STORED,
      UNIQUE (title, list),
      CONSTRAINT "named" CHECK (id > 0),
      FOREIGN KEY (list, place) REFERENCES Other -- the last
    ) STRICT
    """

  struct Case: Sendable {
    let edits: [TableEdit]
    let old: String
    let new: String

    init(_ edits: TableEdit..., replacing old: String, by new: String) {
      self.edits = edits
      self.old = old
      self.new = new
    }
  }

  @Test(arguments: [
    Case(
      .setOptional(column: "TITLE", false), replacing: "title TEXT DEFAULT",
      by: "title TEXT NOT NULL DEFAULT"),
    Case(
      .setOptional(column: "done", true), replacing: "INTEGER NOT NULL /* 0 or 1 */",
      by: "INTEGER /* 0 or 1 */"),
    Case(
      .setOptional(column: "done", false), replacing: "INTEGER NOT NULL /* 0 or 1 */",
      by: "INTEGER NOT NULL /* 0 or 1 */"),
    Case(
      .setDefault(column: "title", nil), replacing: "TEXT DEFAULT ('a, b)') COLLATE",
      by: "TEXT COLLATE"),
    Case(
      .setDefault(column: "title", "''"), replacing: "TEXT DEFAULT ('a, b)') COLLATE",
      by: "TEXT DEFAULT '' COLLATE"),
    Case(
      .setCollation(column: "title", "RTRIM"),
      replacing: "TEXT DEFAULT ('a, b)') COLLATE NOCASE,",
      by: "TEXT COLLATE RTRIM DEFAULT ('a, b)'),"),
    Case(
      .setType(column: "place", "TEXT"), replacing: "place NVARCHAR (160)", by: "place TEXT"),
    Case(
      .addClause(column: "title", " UNIQUE"), replacing: "COLLATE NOCASE,",
      by: "COLLATE NOCASE UNIQUE,"),
    Case(
      .addColumn("\"due\" REAL"), replacing: "(upper(title)) STORED,",
      by: "(upper(title)) STORED,\n  \"due\" REAL,"),
    Case(
      .addConstraint("UNIQUE (id)"), replacing: "REFERENCES Other -- the last",
      by: "REFERENCES Other,\n  UNIQUE (id) -- the last"),
    Case(
      .removeReference(columns: ["LIST"], table: "list"),
      replacing: "INTEGER REFERENCES List (id) ON DELETE SET NULL,", by: "INTEGER,"),
    Case(
      .removeReference(columns: ["list", "place"], table: "Other"),
      replacing: "CHECK (id > 0),\n  FOREIGN KEY (list, place) REFERENCES Other",
      by: "CHECK (id > 0)\n  "),
    Case(
      .removeUnique(columns: ["list", "title"]), replacing: "  UNIQUE (title, list),\n", by: "  \n"),
    Case(
      .removeUnique(columns: ["place"]), replacing: "(160) UNIQUE NOT NULL",
      by: "(160) NOT NULL"),
    Case(
      .removeCheck(name: "named", condition: "id  >  0"),
      replacing: "CONSTRAINT \"named\" CHECK (id > 0),", by: ""),
    Case(
      .removeCheck(name: nil, condition: "\"done\" IN (0, 1)"),
      replacing: " /* 0 or 1 */ CHECK (\"done\" IN (0, 1))", by: " /* 0 or 1 */"),
    Case(
      .removeColumn("done"),
      replacing: "\"done\" INTEGER NOT NULL /* 0 or 1 */ CHECK (\"done\" IN (0, 1)),", by: ""),
  ])
  func onlyTheMeantPartChanges(example: Case) throws {
    try #require(Self.text.contains(example.old))
    #expect(
      TableEdit.apply(example.edits, to: Self.text)
        == Self.text.replacing(example.old, with: example.new))
  }

  @Test func editsFollowEachOther() {
    #expect(
      TableEdit.apply(
        [
          .addColumn("b TEXT"), .setOptional(column: "b", false), .addConstraint("UNIQUE (b)"),
          .removeColumn("a"),
        ], to: "CREATE TABLE t (a, c)")
        == "CREATE TABLE t ( c,\n  b TEXT NOT NULL,\n  UNIQUE (b))")
  }

  @Test(arguments: [
    // A part that a model cannot declare would be lost.
    "CREATE TABLE t (a INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED, b TEXT)",
    "CREATE TABLE t (a INTEGER REFERENCES p MATCH FULL, b TEXT)",
    // Not understood.
    "CREATE TABLE t (a INTEGER REFERENCES p, b TEXT CHECK b)",
    "CREATE TABLE t AS SELECT 1 AS a",
    "CREATE VIRTUAL TABLE t USING fts5(a)",
    // There is no such reference.
    "CREATE TABLE t (a INTEGER, b INTEGER REFERENCES p)",
  ])
  func whatCannotBeEditedSafelyIsRefused(text: String) {
    #expect(TableEdit.apply([.removeReference(columns: ["a"], table: "p")], to: text) == nil)
  }

  @Test func aColumnThatAnotherPartNamesIsNotRemoved() {
    #expect(TableEdit.apply([.removeColumn("title")], to: Self.text) == nil)
    #expect(
      TableEdit.apply([.removeColumn("a")], to: "CREATE TABLE t (a, b CHECK (b > \"A\"))") == nil)
  }

  @Test func conflictClausesAreNotDropped() {
    let text = "CREATE TABLE t (a TEXT UNIQUE ON CONFLICT IGNORE NOT NULL ON CONFLICT REPLACE)"
    #expect(TableEdit.apply([.removeUnique(columns: ["a"])], to: text) == nil)
    #expect(TableEdit.apply([.setOptional(column: "a", true)], to: text) == nil)
  }

  @Test func aTableGetsAnotherName() {
    #expect(
      TableSQL.renaming("CREATE TABLE [a b] (a) -- \"a b\"", to: "c\"d")
        == "CREATE TABLE \"c\"\"d\" (a) -- \"a b\"")
  }
}

extension String {
  fileprivate func replacing(_ old: String, with new: String) -> String {
    guard let range = firstRange(of: old) else { return self }
    return replacingCharacters(in: range, by: new)
  }

  private func firstRange(of text: String) -> Range<Index>? { ranges(of: text).first }

  private func replacingCharacters(in range: Range<Index>, by new: String) -> String {
    var copy = self
    copy.replaceSubrange(range, with: new)
    return copy
  }
}
