import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct BindingInstallationTests {
  private let world = BindingWorld.defaulted

  @Test func installingABindingUpdatesOnlyRecordsThatDiffer() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.connection.execute(
      """
      UPDATE Album SET artistName = 'old' WHERE id = 2;
      INSERT INTO Album VALUES (9, NULL, 'old', 'v');
      CREATE TABLE touched (id INTEGER);
      CREATE TRIGGER watch AFTER UPDATE ON Album BEGIN INSERT INTO touched VALUES (NEW.id); END;
      """)
    #expect(
      try fixture.install([world.binding], in: world.models) == [
        .init(binding: "Album.artistName", recordCount: 2)
      ])
    #expect(try fixture.rows("SELECT id FROM touched ORDER BY id") == ["2", "9"])
    #expect(try fixture.rows(world.oracle) == ["0"])
  }

  @Test func installingAgainChangesNothing() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    let version = try fixture.connection.schemaVersion()
    #expect(try fixture.install([world.binding], in: world.models) == [])
    #expect(try fixture.connection.schemaVersion() == version)
  }

  @Test func onlyTriggersThatDifferAreCreatedAgain() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    let installation = try CompiledBindings([world.binding], in: world.models)
    let found = try InstalledObjects.ofBindings(in: fixture.connection)
    #expect(installation.plan(from: found) == .init())
    #expect(found.objects.count == 11)
    let lost = "_ms_binding_Album.artistName_source_delete"
    let edited = "_ms_binding_Album.artistName_target_update"
    var objects = found.objects.filter { ![lost, edited].contains($0.name) }
    let changed = try #require(found.objects.first { $0.name == edited })
    let other = SchemaObject(
      kind: .trigger, name: edited, sql: changed.sql + " ", table: changed.table)
    objects += [
      other,
      SchemaObject(
        kind: .trigger, name: "_ms_binding_Album.shelf_target_insert",
        sql: "CREATE TRIGGER of another program"),
    ]
    let installed = InstalledObjects(objects)
    let plan = installation.plan(from: installed)
    #expect(plan.dropped == [other])
    #expect(plan.created.map(\.name) == [lost, edited])
    #expect(plan.following.map(\.binding.name) == ["Album.artistName"])
    #expect(installation.undeclared(in: installed) == ["Album.shelf"])
  }

  @Test func aLostTriggerIsRestoredAndItsRecordsAreUpdated() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    try fixture.connection.execute(
      """
      DROP TRIGGER "_ms_binding_Album.artistName_source_update";
      UPDATE Artist SET name = 'Ada' WHERE id = 1;
      """)
    #expect(try fixture.rows(world.oracle) == ["2"])
    #expect(
      try fixture.install([world.binding], in: world.models) == [
        .init(binding: "Album.artistName", recordCount: 2)
      ])
    #expect(try fixture.rows(world.oracle) == ["0"])
  }

  @Test func changedFormulaReplacesTheOldOne() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    let derived = BindingSchema(target: world.binding.target, formula: .derive(sql: "upper(title)"))
    #expect(
      try fixture.install([derived], in: world.models) == [
        .init(binding: "Album.artistName", recordCount: 4)
      ])
    #expect(
      try InstalledObjects.ofBindings(in: fixture.connection).objects.map(\.name) == [
        "_ms_binding_Album.artistName_target_insert", "_ms_binding_Album.artistName_target_update",
      ])
    try fixture.connection.execute("UPDATE Artist SET name = 'Ada'; UPDATE Album SET title = 'new'")
    #expect(try fixture.rows("SELECT DISTINCT artistName FROM Album") == ["'NEW'"])
  }

  @Test func undeclaredBindingStaysUntilItIsRemoved() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    try fixture.install([], in: world.models)
    try fixture.connection.execute("UPDATE Artist SET name = 'Ada' WHERE id = 1")
    #expect(try fixture.rows(world.oracle) == ["0"])
    func drop() throws -> Bool {
      try fixture.connection.inTransaction {
        try Reconciler(fixture.connection).dropBinding("Album.artistName")
      }
    }
    #expect(try drop())
    #expect(try !drop())
    try fixture.connection.execute("UPDATE Artist SET name = 'Eve' WHERE id = 1")
    #expect(try fixture.rows(world.oracle) == ["2"])
  }

  @Test func renamedColumnsAreFollowedByTheNextInstallation() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    try fixture.connection.execute("ALTER TABLE Artist RENAME COLUMN name TO fullName")
    var models = world.models
    models[0].fields[1].column = "fullName"
    // SQLite rewrote the triggers to the very text that is expected now.
    #expect(try fixture.install([world.binding], in: models) == [])
    try fixture.connection.execute("UPDATE Artist SET fullName = 'Ada' WHERE id = 1")
    #expect(try fixture.rows("SELECT artistName FROM Album WHERE id = 1") == ["'Ada'"])
  }

  @Test func aBindingIsNotAddedWhileARecordRefusesItsValue() throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.connection.execute(
      """
      UPDATE Artist SET name = 'Ada';
      CREATE TRIGGER stubborn AFTER UPDATE OF artistName ON Album WHEN NEW.artistName <> 'mine'
      BEGIN UPDATE Album SET artistName = 'mine' WHERE id = NEW.id; END;
      """)
    let error = #expect(throws: StoreError.self) {
      try fixture.install([world.binding], in: world.models)
    }
    #expect(
      error?.message == """
        The binding Album.artistName cannot be kept: Album.artistName does not keep the value \
        that the binding writes. A trigger changes it, or the column cannot store it, such as an \
        integer beyond 2^53 in a REAL column. Remove the trigger, or compute a value that the \
        column can store.
        """)
    #expect(try InstalledObjects.ofBindings(in: fixture.connection).objects == [])
  }

  @Test(arguments: [
    "Album.artistName", "a", "_", "x_target_insert", "it's \"so\" – ü", "a_source_update_",
  ])
  func aTriggersNameIdentifiesItsBinding(name: String) throws {
    var binding = world.binding
    binding.name = name
    let installation = try CompiledBindings([binding], in: world.models)
    let names = installation.bindings[0].triggers.map {
      BindingTriggers.bindingName(ofTrigger: $0.name)
    }
    #expect(names == Array(repeating: name, count: 10))
  }

  @Test(arguments: [
    "watch", "_ms_binding_", "_ms_binding_a", "_ms_binding__target_insert",
    "x_ms_binding_a_target_insert",
  ])
  func otherTriggersBelongToNoBinding(name: String) {
    #expect(BindingTriggers.bindingName(ofTrigger: name) == nil)
  }

  @Test func theTriggersOfACopyHaveTheExpectedSQL() throws {
    let triggers = try CompiledBindings([world.binding], in: world.models).bindings[0].triggers
    #expect(
      triggers[1].sql == """
        CREATE TRIGGER "_ms_binding_Album.artistName_source_update"
        AFTER UPDATE OF "name", "id", "rowid", "oid", "_rowid_" ON "Artist"
        WHEN OLD."name" COLLATE BINARY IS NOT NEW."name" OR OLD."id" COLLATE BINARY IS NOT NEW."id"
        BEGIN
          UPDATE "Album"
          SET "artistName" = CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") ELSE ('') END
          WHERE NEW."id" = "Album"."artistID" AND "artistName" COLLATE BINARY IS NOT CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") ELSE ('') END;
          SELECT RAISE(ABORT, 'The binding Album.artistName cannot be kept: Album.artistName does not take the value.')
          FROM "Album"
          WHERE NEW."id" = "Album"."artistID" AND "artistName" COLLATE BINARY IS NOT CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = NEW."id") ELSE ('') END;
          UPDATE "Album"
          SET "artistName" = CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") ELSE ('') END
          WHERE (OLD."id" COLLATE BINARY IS NOT NEW."id") AND OLD."id" = "Album"."artistID" AND "artistName" COLLATE BINARY IS NOT CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") ELSE ('') END;
          SELECT RAISE(ABORT, 'The binding Album.artistName cannot be kept: Album.artistName does not take the value.')
          FROM "Album"
          WHERE (OLD."id" COLLATE BINARY IS NOT NEW."id") AND OLD."id" = "Album"."artistID" AND "artistName" COLLATE BINARY IS NOT CASE WHEN EXISTS (SELECT 1 FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") THEN (SELECT _ms_source."name" FROM "Artist" AS _ms_source WHERE _ms_source."id" = OLD."id") ELSE ('') END;
        END
        """)
  }
}
