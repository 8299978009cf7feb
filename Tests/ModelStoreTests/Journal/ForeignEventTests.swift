import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// With a journal, a commit of another program is reported like one of the store's own.
@Suite(.tags(.law)) struct ForeignEventTests {
  @Test func everyObserverReceivesExactlyWhatAnotherProgramChanged() throws {
    let world = try ForeignWorld()
    let told = Recorder<String>()
    let field = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("field \(change.text) \(change.isReset)")
    }
    let record = try world.store.observe(.record(Album.self, 2)) { change in
      told.add(
        "record \(change.old?.title ?? "none") → \(change.new?.title ?? "none") \(change.isReset)")
    }
    let model = try world.store.observe(Album.self) { changes in
      told.add("model \(changes.changes.map { $0.new?.id ?? $0.old?.id ?? 0 }) \(changes.isReset)")
    }
    let live = try world.store.liveQuery(Album.all.order { $0.title }).observe { event in
      told.add("live \(event.words)")
    }
    let window = try world.store.liveQuery(Album.all.order { $0.title }.limit(1)).observe { event in
      told.add("window \(event.words)")
    }
    let mix = try world.store.observe(list: \Mix.songs, of: 1, fields: [\Song.title]) { changes in
      told.add("mix \(changes.words) \(changes.isReset)")
    }
    world.store.waitForDelivery()
    _ = told.taken()

    try world.foreign("UPDATE Album SET title = 'zero' WHERE id = 1")
    #expect(
      told.taken() == [
        "field one → zero false", "model [1] false", "live -[] +[] 0→2 2=title one→zero",
        "window -[0] +[0]  ",
      ])
    try world.foreign(
      "BEGIN; DELETE FROM Album WHERE id = 2; UPDATE Album SET title = 'a' WHERE id = 1; COMMIT")
    #expect(
      told.taken() == [
        "field zero → a false", "record two → none false", "model [2, 1] false",
        "live -[1] +[] 2→0 0=title zero→a", "window -[0] +[0]  ",
      ])
    try world.foreign("UPDATE Album SET title = title; INSERT INTO Artist VALUES (2, 'x')")
    #expect(told.taken() == [])
    try world.foreign("INSERT OR REPLACE INTO Album VALUES (1, 'A', 1, NULL)")
    #expect(
      told.taken() == [
        "field a → A false", "model [1] false", "live -[] +[]  0=title a→A",
        "window -[] +[]  0=title a→A",
      ])
    try world.foreign(
      """
      BEGIN; DELETE FROM Mix_songs WHERE element = 1;
      UPDATE Song SET title = 't' WHERE id = 3; COMMIT
      """)
    #expect(told.taken() == ["mix unknown | -0 3=2 p3 title 'song 3'→'t' false"])
    #expect(world.errors.events == [])
    for subscription in [field, record, model, live, window, mix] { subscription.cancel() }
  }

  @Test(arguments: [JournalDetail.keys, nil])
  func onlyAModelWithoutRowImagesIsReset(detail: JournalDetail?) throws {
    let world = try ForeignWorld()
    if let detail {
      try world.store.changeJournal.enable(detail, for: ["Album"])
    } else {
      try world.store.changeJournal.disable(for: ["Album"])
    }
    let told = Recorder<String>()
    let album = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("album \(change.text) \(change.isReset)")
    }
    let artist = try world.store.observe(.field(\Artist.name, of: 1)) { change in
      told.add("artist \(change.text) \(change.isReset)")
    }
    try world.foreign(
      "BEGIN; UPDATE Album SET title = 'x'; UPDATE Artist SET name = 'y'; COMMIT")
    #expect(told.taken().sorted() == ["album none → x true", "artist Miles → y false"])
    try world.foreign("UPDATE Artist SET name = 'z'")
    // Keys alone are enough to see that nothing changed.
    let other = detail == nil ? ["album none → x true"] : []
    #expect(told.taken().sorted() == other + ["artist y → z false"])
    album.cancel()
    artist.cancel()
  }

  /// How often the law's steps run: `MODELSTORE_FOREIGN_STEPS`, or enough for every day.
  private static var stepCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_FOREIGN_STEPS"].flatMap { Int($0) } ?? 400
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func mixedOwnAndForeignCommitsAreEachReportedOnce(seed: UInt64) throws {
    print("seed \(seed)")
    let world = try JournalWorld(LiveQueryTests.setup)
    try world.other.execute("PRAGMA foreign_keys = ON")
    let schema = try world.store.schema.model(named: "item")
    var random = RandomTransaction(seed: seed)
    var watches = try LiveQueryTests.queries.indices.map {
      try FollowedQuery($0, schema, world)
    }
    var resetCount = 0
    for step in 0..<Self.stepCount {
      for _ in 0..<3 {
        switch random.chance(1, of: 2) {
        case true: try world.other.execute(random.foreignStatements())
        case false: try LiveQueryTests.commit(&random, to: world.store)
        }
        // Reading after a foreign commit that was not reported yet reports that commit first.
        if random.chance(1, of: 6) {
          let place = random.place(of: watches)
          watches[place] = try FollowedQuery(place, schema, world)
        }
      }
      try world.store.refresh()
      world.store.waitForDelivery()
      for (place, watch) in watches.enumerated() {
        let outcome = try watch.follow(in: world)
        if let objection = outcome.objection {
          Issue.record("\(objection): seed \(seed), step \(step), query \(place)")
          return
        }
        resetCount += outcome.resetCount
      }
    }
    #expect(resetCount == 0, "seed \(seed)")
    #expect(try world.replayed("item") == world.stored("item"), "seed \(seed)")
    #expect(world.errors.events == [])
  }

  @Test func aForeignChangeOfTheSchemaIsOneResetForAStoreThatOnlyObserves() throws {
    let world = try ForeignWorld()
    let told = Recorder<String>()
    let field = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("\(change.text) \(change.isReset)")
    }
    try world.foreign("CREATE TABLE unrelated (x)")
    #expect(told.taken() == ["none → one true"])
    try world.foreign("UPDATE Album SET title = 'two' WHERE id = 1")
    #expect(told.taken() == ["one → two false"])
    field.cancel()
  }

  /// The next write reads it again, so that no write works with models of another schema.
  @Test func everyWriteFailsWhileTheSchemaCannotBeRead() throws {
    let world = try ForeignWorld()
    func retitle(_ title: String) throws {
      try world.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    try world.other.execute(
      "CREATE TABLE unrelated (x); UPDATE _ms_journal_layouts SET format = format + 1")
    for _ in 1...2 {
      #expect(failure { try retitle("two") }?.code == .newerFormat)
    }
    try world.other.execute("UPDATE _ms_journal_layouts SET format = format - 1")
    try retitle("three")
    let titles = try world.other.rows("SELECT title FROM Album WHERE id = 1")
    #expect(titles == [[.text("three")]])
    #expect(world.errors.events == [])
  }

  private static func text(_ value: SQLValue) -> String {
    if case .text(let text) = value { text } else { "" }
  }

  /// A journal lacks the changes from before it began, also in the transaction that created it. A
  /// writer that comes before the next poll must not assume that the journal is complete.
  @Test func aJournalThatBeganInAForeignTransactionIsAReset() throws {
    let world = try ForeignWorld(detail: nil)
    let twin = try ForeignWorld()
    try world.other.execute("ATTACH '\(twin.directory.file("foreign.store"))' AS twin")
    let objects = try world.other.rows(
      """
      SELECT type, name, sql FROM twin.sqlite_schema
      WHERE name GLOB '_ms_journal*' AND sql IS NOT NULL
      ORDER BY type = 'trigger', type = 'index'
      """
    ).map { row in row.map(Self.text) }
    let tables = objects.filter { $0[0] == "table" }.map { $0[1] }
    try #require(tables.count > 3 && objects.count > 2 * tables.count)
    try world.foreign(tables.map { "DROP TABLE \"\($0)\"" }.joined(separator: "; "))
    let told = Recorder<String>()
    let field = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("\(change.text) \(change.isReset)")
    }
    let statements =
      ["UPDATE Album SET title = 'two' WHERE id = 1"] + objects.map { $0[2] }
      + tables.map { "INSERT INTO main.\"\($0)\" SELECT * FROM twin.\"\($0)\"" }
    try world.other.execute("BEGIN; " + statements.joined(separator: "; ") + "; COMMIT")
    try world.store.write { tx in try tx.execute("UPDATE Artist SET name = 'x'") }
    world.store.waitForDelivery()
    #expect(told.taken() == ["none → two true"])
    try world.foreign("UPDATE Album SET title = 'three' WHERE id = 1")
    #expect(told.taken() == ["two → three false"])
    #expect(world.errors.events == [])
    field.cancel()
  }

  @Test func anEmptiedJournalResetsObservers() throws {
    let world = try ForeignWorld()
    let told = Recorder<String>()
    let field = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("\(change.text) \(change.isReset)")
    }
    try world.foreign(
      "BEGIN; UPDATE Album SET title = 'two' WHERE id = 1; DELETE FROM _ms_journal; COMMIT")
    #expect(told.taken() == ["none → two true"])
    try world.store.write { tx in try tx.execute("UPDATE Album SET title = 'three' WHERE id = 1") }
    try world.foreign("UPDATE Album SET title = 'four' WHERE id = 1")
    #expect(told.taken() == ["two → three false", "three → four false"])
    let history = try world.store.changeJournal.transactions()
    #expect(history.map { $0.positions.lowerBound.rawValue } == [1, 3])
    #expect(history.map(\.isForeign) == [false, true])
    #expect(throws: StoreError.self) {
      try world.store.write { tx in
        try tx.execute("DELETE FROM _ms_journal")
        try tx.execute("UPDATE Album SET title = 'five' WHERE id = 1")
      }
    }
    field.cancel()
  }

  @Test func invalidUTF8ResetsOnlyItsModel() throws {
    let world = try ForeignWorld()
    let told = Recorder<String>()
    let album = try world.store.observe(.field(\Album.title, of: 1)) { change in
      told.add("\(change.text) \(change.isReset)")
    }
    let artist = try world.store.observe(.field(\Artist.name, of: 1)) { change in
      told.add("\(change.text) \(change.isReset)")
    }
    try world.foreign(
      """
      BEGIN; UPDATE Album SET title = CAST(x'ff' AS TEXT) WHERE id = 3;
      UPDATE Artist SET name = 'x'; COMMIT
      """)
    #expect(told.taken().sorted() == ["Miles → x false", "none → one true"])
    album.cancel()
    artist.cancel()
  }
}

/// A live query, and a copy of its result that is kept only by applying its events.
private final class FollowedQuery {
  private let watch: LiveQueryTests.Watch
  private var list: [DynamicRecord]

  init(_ number: Int, _ schema: ModelSchema, _ world: JournalWorld) throws {
    watch = try LiveQueryTests.Watch(world.store, schema, number)
    // No other program writes meanwhile, so this is the first result of the query.
    list = try world.other.rows(watch.sql).map { DynamicRecord(schema: schema, values: $0) }
  }

  func follow(in world: JournalWorld) throws -> (objection: String?, resetCount: Int) {
    var resetCount = 0
    let events = watch.kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
    for event in events {
      guard event.oldCount == list.count else {
        return ("an event of \(event.oldCount) rows for \(list.count)", resetCount)
      }
      event.apply(to: &list)
      if event.isReset { resetCount += 1 }
    }
    let fresh = try world.other.rows(watch.sql)
    var isTrue = list.map(\.values) == fresh
    if resetCount > 0 {
      // Rows of both results may differ in values that were not reported.
      isTrue = list.map(\.key) == fresh.map { [$0[0]] }
      list = fresh.map { DynamicRecord(schema: watch.oracle.schema, values: $0) }
    }
    return (isTrue ? nil : "\(events.count) events lead elsewhere", resetCount)
  }
}

extension RandomTransaction {
  mutating func place(of watches: [some Any]) -> Int { draw(0...watches.count - 1) }

  /// What another program does to `g` and `item` in one transaction.
  mutating func foreignStatements() -> String {
    let statements = (0..<draw(1...3)).map { _ in foreignStatement() }
    return
      "BEGIN; \(statements.joined(separator: "; ")); \(chance(1, of: 9) ? "ROLLBACK" : "COMMIT")"
  }

  private mutating func foreignStatement() -> String {
    let id = draw(1...40)
    let number = ["NULL", "0", "0.5", "-3", "1", "1.0", "7", "'a'", "x'00'"][draw(0...8)]
    let text = ["NULL", "''", "'a'", "'A'", "'a '", "'one'", "'Ä'"][draw(0...6)]
    let group = ["NULL", "1", "2", "3"][draw(0...3)]
    let unique = draw(0...1) == 0 ? "NULL" : "\(draw(0...25))"
    switch draw(0...11) {
    case 0...2:
      return """
        INSERT OR REPLACE INTO item SELECT \(id), \(number), \(text), \(group), \(unique) \
        WHERE \(group) IS NULL OR EXISTS (SELECT 1 FROM g WHERE id = \(group))
        """
    case 3: return "INSERT OR IGNORE INTO item VALUES (\(id), \(number), \(text), NULL, \(unique))"
    case 4...5: return "UPDATE item SET a = \(number), t = \(text) WHERE id = \(id)"
    case 6: return "UPDATE OR REPLACE item SET u = \(unique) WHERE id IN (\(id), \(draw(1...40)))"
    case 7: return "UPDATE OR REPLACE item SET id = \(draw(1...40)) WHERE id = \(id)"
    case 8: return "DELETE FROM item WHERE id % 7 = \(id % 7)"
    case 9: return "UPDATE g SET n = \(text) WHERE id = \(id % 4)"
    case 10: return "DELETE FROM g WHERE id = \(id % 4) AND \(id) > 33"
    default: return "INSERT OR IGNORE INTO g VALUES (\(id % 4), 'new')"
    }
  }
}

extension QueryChanges {
  /// What happened, in words: `-[0] +[0] 0→2 2=title one→zero`.
  fileprivate var words: String {
    let moves = moves.map { "\($0.oldIndex)→\($0.newIndex)" }.joined(separator: ", ")
    let updates = updates.map { update in
      "\(update.newIndex)="
        + update.fields.map { "\($0.name) \(Self.word($0.old))→\(Self.word($0.new))" }
        .joined(separator: " ")
    }
    return
      "\(isReset ? "reset " : "")-\(deletions.map(\.index)) +\(insertions.map(\.index)) \(moves) "
      + updates.joined(separator: ", ")
  }

  private static func word(_ value: SQLValue) -> String {
    if case .text(let text) = value { text } else { value.description }
  }
}
