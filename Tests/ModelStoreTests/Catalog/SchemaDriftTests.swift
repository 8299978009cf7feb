import Foundation
import Testing

@testable import ModelStore

/// Another program changes objects of each part; what differs is reported, and repaired by the call
/// for that part.
@Suite(.tags(.unit)) struct SchemaDriftTests {
  struct Change: Sendable, CustomTestStringConvertible {
    let sql: String
    let part: SchemaDrift.Part
    let drift: [SchemaDrift]
    var testDescription: String { sql }
  }

  /// A file with models, a binding, two rules and a journal.
  private static func hotel() throws -> Hotel {
    let hotel = try Hotel()
    try hotel.store.add(.copy(\Room.name, to: \Booking.note, through: \Booking.room))
    try hotel.store.add(Rule("fixed", of: "Booking", fields: ["guest"], .immutable))
    try hotel.store.add(Rule("once", of: "Booking", fields: ["id", "start"], .unique(where: nil)))
    try hotel.store.changeJournal.enable()
    return hotel
  }

  private static func dummy(_ name: String, on table: String) -> String {
    "CREATE TRIGGER \"\(name)\" AFTER INSERT ON \(table) BEGIN SELECT 1; END;"
  }

  @Test func anUnchangedFileHasNoDrift() throws {
    let hotel = try Self.hotel()
    #expect(try hotel.store.schemaDrift() == [])
  }

  @Test(arguments: changes)
  func driftNamesThePartThatAnotherProgramChanged(change: Change) throws {
    let hotel = try Self.hotel()
    let file = try PlainDatabase(hotel.store.path)
    try file.execute(change.sql)
    #expect(try hotel.store.schemaDrift(of: [change.part]) == change.drift)
    switch change.part {
    case .models: return
    case .bindings: _ = try hotel.store.rebuildBindings()
    case .rules: #expect(try hotel.store.rebuildRules() == change.drift)
    case .journal: try hotel.store.changeJournal.enable()
    }
    let version = try file.rows("PRAGMA schema_version")
    let left = try hotel.store.schemaDrift(of: [change.part]).filter { $0.owner.name != "gone" }
    #expect(left == [])
    _ = try hotel.store.rebuildBindings()
    _ = try hotel.store.rebuildRules()
    try hotel.store.changeJournal.enable()
    #expect(try file.rows("PRAGMA schema_version") == version, "a second repair changes nothing")
  }

  private static let index = "_ms_index_Booking.room"
  private static let binding = "_ms_binding_Booking.note"

  private static let changes =
    changesOfModels + changesOfBindings + changesOfRules + changesOfTheJournal

  private static let changesOfModels = [
    Change(
      sql: "DROP INDEX \"\(index)\"", part: .models,
      drift: [
        SchemaDrift(
          .model("Booking"),
          [
            .init(
              .index, index, .missing,
              sentence: "The index \(index) of the model Booking does not exist.")
          ])
      ]),
    Change(
      sql: "DROP INDEX \"\(index)\"; CREATE INDEX \"\(index)\" ON Booking (start)", part: .models,
      drift: [
        SchemaDrift(
          .model("Booking"),
          [
            .init(
              .index, index, .changed,
              sentence: "The index \(index) covers other columns than the model Booking declares.")
          ])
      ]),
    Change(
      sql: "ALTER TABLE Room ADD COLUMN floor INTEGER", part: .models,
      drift: [
        SchemaDrift(
          .model("Room"),
          [
            .init(
              .column, "floor", .unexpected,
              sentence:
                "The table Room has a column floor that the model Room does not declare.")
          ])
      ]),
    Change(
      sql: "DROP TABLE Booking", part: .models,
      drift: [
        SchemaDrift(
          .model("Booking"),
          [
            .init(
              .table, "Booking", .missing,
              sentence: "The table Booking of the model Booking does not exist.")
          ])
      ]),
  ]

  private static let changesOfBindings = [
    Change(
      sql: """
        DROP TRIGGER "\(binding)_source_update"; DROP TRIGGER "\(binding)_target_insert";
        \(dummy("\(binding)_target_insert", on: "Booking"))
        \(dummy("\(binding)_left_insert", on: "Room"))
        """, part: .bindings,
      drift: [
        SchemaDrift(
          .binding("Booking.note"),
          [
            .init(.trigger, "\(binding)_left_insert", .unexpected),
            .init(.trigger, "\(binding)_source_update", .missing),
            .init(.trigger, "\(binding)_target_insert", .changed),
          ])
      ]),
    Change(
      sql: "DROP TABLE \"\(binding)_evicted\"", part: .bindings,
      drift: [
        SchemaDrift(.binding("Booking.note"), [.init(.table, "\(binding)_evicted", .missing)])
      ]),
    Change(
      sql: dummy("_ms_binding_gone_left_insert", on: "Room"), part: .bindings,
      drift: [
        SchemaDrift(
          .binding("gone"), [.init(.trigger, "_ms_binding_gone_left_insert", .unexpected)])
      ]),
  ]

  private static let changesOfRules = [
    Change(
      sql: """
        DROP INDEX "_ms_rule_once"; DROP TRIGGER "_ms_rule_fixed_update";
        \(dummy("_ms_rule_fixed_update", on: "Booking"))
        \(dummy("_ms_rule_gone_insert", on: "Room"))
        """, part: .rules,
      drift: [
        SchemaDrift(.rule("fixed"), [.init(.trigger, "_ms_rule_fixed_update", .changed)]),
        SchemaDrift(.rule("gone"), [.init(.trigger, "_ms_rule_gone_insert", .unexpected)]),
        SchemaDrift(.rule("once"), [.init(.index, "_ms_rule_once", .missing)]),
      ]),
    Change(
      sql: "DROP TABLE _ms_rulenotes_fixed; CREATE TABLE _ms_rulenotes_fixed (x)", part: .rules,
      drift: [SchemaDrift(.rule("fixed"), [.init(.table, "_ms_rulenotes_fixed", .changed)])]),
  ]

  private static let changesOfTheJournal = [
    Change(
      sql: """
        DROP TRIGGER _ms_journal_Room_update; DROP TRIGGER _ms_journal_Room_insert;
        \(dummy("_ms_journal_Room_insert", on: "Room"))
        \(dummy("_ms_journal_Room_other", on: "Room"))
        """, part: .journal,
      drift: [
        SchemaDrift(
          .journal(model: "Room"),
          [
            .init(.trigger, "_ms_journal_Room_insert", .changed),
            .init(.trigger, "_ms_journal_Room_other", .unexpected),
            .init(.trigger, "_ms_journal_Room_update", .missing),
          ])
      ]),
    Change(
      sql: dummy("later", on: "Room"), part: .journal,
      drift: [
        SchemaDrift(
          .journal(model: "Room"),
          [
            "delete", "insert", "preinsert", "preupdate", "rekey", "replaced", "update", "vacated",
          ]
          .map { .init(.trigger, "_ms_journal_Room_\($0)", .misplaced) })
      ]),
  ]

  @Test func theJournalOfATableThatLostAColumnNamesTheColumn() throws {
    let hotel = try Self.hotel()
    try PlainDatabase(hotel.store.path).execute(
      "DROP TABLE Room; CREATE TABLE Room (id INTEGER PRIMARY KEY)")
    #expect(
      try hotel.store.schemaDrift(of: [.journal]) == [
        SchemaDrift(.journal(model: "Room"), [.init(.column, "name", .missing)])
      ])
  }

  @Test func driftSurvivesEncoding() throws {
    let drift = Self.changes.flatMap(\.drift)
    let data = try JSONEncoder().encode(drift)
    #expect(try JSONDecoder().decode([SchemaDrift].self, from: data) == drift)
  }

  @Test func objectsAreSortedAndLeaveColumnsOut() {
    let drift = SchemaDrift(
      .model("m"),
      [.init(.table, "t", .changed), .init(.column, "c", .missing), .init(.index, "i", .missing)])
    #expect(drift.objects == ["i", "t"])
  }
}
