import Testing

@testable import ModelStore

/// What a plan is made of and in which order its steps come, without a file.
@Suite(.tags(.unit)) struct SchemaPlanTests {
  private static func object(
    _ kind: SchemaObject.Kind, _ name: String, of owner: SchemaObject.Owner = .rule("r"),
    sql: String = "made"
  ) -> SchemaObject {
    SchemaObject(kind: kind, name: name, owner: owner, sql: sql)
  }

  /// One line for each step.
  private static func lines(_ plan: SchemaPlan) -> [String] {
    plan.steps.map { step in
      switch step {
      case .checkExpressions(let binding): "check \(binding.binding.name)"
      case .drop(let object): "drop \(object.kind) \(object.name)"
      case .create(let object): "create \(object.kind) \(object.name)"
      case .addColumn(let statement): "add \(statement.sql)"
      case .checkNames(let binding): "name \(binding.binding.name)"
      case .synchronise(let binding): "fill \(binding.binding.name)"
      case .write(let statement): "write \(statement.sql)"
      case .verify(let binding): "verify \(binding.binding.name)"
      }
    }
  }

  @Test func missingChangedAndUnexpectedObjectsArePlanned() {
    let kept = Self.object(.trigger, "kept")
    let missing = Self.object(.trigger, "missing")
    let changed = Self.object(.table, "changed")
    let found = Self.object(.table, "changed", sql: "edited")
    let unexpected = Self.object(.index, "unexpected", of: .rule("gone"))
    let plan = SchemaPlan(
      from: [kept, missing, changed], to: InstalledObjects([kept, found, unexpected]))
    #expect(plan == SchemaPlan(dropped: [found, unexpected], created: [missing, changed]))
    #expect(
      plan.differences == [
        .rule("r"): [.init(.table, "changed", .changed), .init(.trigger, "missing", .missing)],
        .rule("gone"): [.init(.index, "unexpected", .unexpected)],
      ])
  }

  @Test func anIndexMayHaveTheNameOfATrigger() {
    let (index, trigger) = (Self.object(.index, "name"), Self.object(.trigger, "name"))
    let plan = SchemaPlan(from: [index, trigger], to: InstalledObjects([trigger]))
    #expect(plan == SchemaPlan(created: [index]))
  }

  @Test func namesAreComparedByteForByte() {
    let (composed, decomposed) = ("\u{E4}", "a\u{308}")
    let plan = SchemaPlan(
      from: [Self.object(.trigger, composed)],
      to: InstalledObjects([Self.object(.trigger, decomposed)]))
    #expect(plan.dropped.map { Array($0.name.utf8) } == [Array(decomposed.utf8)])
    #expect(plan.created.map { Array($0.name.utf8) } == [Array(composed.utf8)])
  }

  @Test func unrelatedObjectsAreNotChanged() {
    let other = Self.object(.trigger, "other", of: .rule("other"))
    let plan = SchemaPlan(from: [], to: InstalledObjects([other])) { $0.owner == .rule("r") }
    #expect(plan.isEmpty)
    #expect(plan.steps == [])
  }

  @Test func triggersAreDroppedFirstAndCreatedLast() {
    var plan = SchemaPlan(
      dropped: [
        Self.object(.table, "a"), Self.object(.trigger, "b"), Self.object(.index, "c"),
        Self.object(.trigger, "d"),
      ],
      created: [
        Self.object(.trigger, "e", of: .binding("x")), Self.object(.trigger, "f"),
        Self.object(.index, "g"), Self.object(.trigger, "h", of: .binding("y")),
        Self.object(.table, "i"), Self.object(.trigger, "j"),
      ])
    plan.addedColumns = ["column"]
    plan.entries = ["entry"]
    plan.closingEntries = ["end"]
    #expect(
      Self.lines(plan) == [
        "drop trigger b", "drop trigger d", "drop index c", "drop table a", "create table i",
        "add column", "create index g", "write entry",
        // The triggers of bindings in reverse: those of sources are the youngest.
        "create trigger h", "create trigger e", "create trigger f", "create trigger j",
        "write end",
      ])
  }

  @Test func recordsFollowBetweenTheTablesAndTheTriggersOfABinding() throws {
    let world = BindingWorld.defaulted
    let name = "_ms_binding_Album.artistName"
    let plan = try CompiledBindings([world.binding], in: world.models)
      .plan(
        from: InstalledObjects([
          SchemaObject(kind: .trigger, name: "\(name)_left_insert", sql: "left behind"),
          SchemaObject(kind: .trigger, name: "_ms_binding_Album.other_left_insert", sql: "other's"),
        ]))
    #expect(
      Self.lines(plan).filter { !$0.hasPrefix("create trigger") } == [
        "check Album.artistName", "drop trigger \(name)_left_insert",
        "create table \(name)_evicted", "name Album.artistName", "fill Album.artistName",
        "verify Album.artistName",
      ])
    let created = plan.created.filter { $0.kind == .trigger }.map { "create trigger \($0.name)" }
    #expect(created.count == 10)
    #expect(Self.lines(plan).filter(created.contains) == created.reversed())
  }

  @Test func driftOfJournalTriggersIsPartOfThePlan() throws {
    let file = try SchemaTestFile("CREATE TABLE Album (id INTEGER PRIMARY KEY, title TEXT UNIQUE)")
    let catalog = try file.catalog()
    let journal = CompiledJournal(JournalLayouts(), of: [SchemaSamples.album], in: catalog)
    let plan = try journal.plan(recording: ["Album": .full])
    #expect(plan.dropped == [])
    #expect(Set(plan.created.map(\.owner)) == [.journal(model: "Album")])
    #expect(
      plan.entries.map { $0.sql.split(separator: " ").prefix(3).joined(separator: " ") } == [
        "DELETE FROM _ms_journal_evicted", "UPDATE _ms_journal_layouts SET",
        "INSERT INTO _ms_journal_layouts",
      ])
    #expect(plan.closingEntries.map(\.arguments.last) == [.integer(1)])
    let gapless = try journal.plan(recording: ["Album": .full]) { _, _ in true }
    #expect(gapless.closingEntries == [])
    #expect(gapless.steps.count == plan.steps.count - 1)
    #expect(try journal.plan(recording: [:]).steps == [])
  }

  @Test(
    arguments: [
      ("_ms_binding_Album.artistName_totals", .table, .binding("Album.artistName")),
      ("_ms_rule_Booking.once", .index, .rule("Booking.once")),
      ("_ms_rule_a_update", .index, .rule("a_update")),
      ("_ms_rule_a_update", .trigger, .rule("a")), ("_ms_rulenotes_a_insert", .trigger, .rule("a")),
      ("_ms_journal_My_model_update", .trigger, .journal(model: "My_model")),
      ("_ms_journal_update", .trigger, .journal(model: "")),
      ("_ms_journal_layouts", .table, nil), ("_ms_index_Album.id", .index, nil),
      ("mine", .trigger, nil),
    ] as [(String, SchemaObject.Kind, SchemaObject.Owner?)])
  func theNameOfAnObjectSaysWhatItBelongsTo(
    name: String, kind: SchemaObject.Kind, owner: SchemaObject.Owner?
  ) {
    #expect(SchemaObject(kind: kind, name: name, sql: "").owner == owner)
  }
}
