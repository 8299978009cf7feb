import Foundation
import ModelStore
import Testing

/// Records whose key SQLite chooses.
@Suite(.tags(.unit)) struct GeneratedKeyTests {
  private struct Task: CodableModel, Hashable {
    var id: Int64 = 0
    var title: String
    var key: Int64 { id }

    static let definition = ModelDefinition<Task>(
      "Task", key: \.id,
      fields: [.init("id", \.id), .init("title", \.title, rules: [.notBlank])])
  }

  /// A key that cannot be set after the record is created, in another integer type.
  private struct Stamp: CodableModel, Hashable {
    let id: Int32
    var minute: Int
    var key: Int32 { id }

    static let definition = ModelDefinition<Stamp>(
      "Stamp", key: \.id, fields: [.init("id", \.id), .init("minute", \.minute)])
  }

  private struct Label: CodableModel, Hashable {
    var name = ""
    var key: String { name }

    static let definition = ModelDefinition<Label>(
      "Label", key: \.name, fields: [.init("name", \.name)])
  }

  private let store: Store

  init() throws {
    store = try Store.inMemory(models: Task.self, Stamp.self, Label.self)
  }

  @Test func sqliteChoosesTheKeyOfEachRecord() throws {
    let tasks = try store.write { tx in
      [
        try tx.insert(generatingKey: Task(title: "Buy bread")),
        try tx.insert(generatingKey: Task(id: 1, title: "Call Ann")),
      ]
    }
    #expect(tasks == [Task(id: 1, title: "Buy bread"), Task(id: 2, title: "Call Ann")])
    #expect(try store.fetch(Task.all) == tasks)
  }

  @Test func aConstantKeyOfAnotherIntegerTypeIsReadBack() throws {
    let stamps = try store.write { tx in
      try tx.insert(Stamp(id: 41, minute: 1))
      return [try tx.insert(generatingKey: Stamp(id: 41, minute: 2))]
    }
    #expect(stamps == [Stamp(id: 42, minute: 2)])
  }

  @Test func theReturnedRecordHasWhatABindingSets() throws {
    let store = try Store.inMemory(
      models: Artist.self, Album.self,
      bindings: [
        .copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)
      ])
    let album = try store.write { tx in
      let artist = try tx.insert(generatingKey: Artist(id: 0, name: "Aurora"))
      return try tx.insert(generatingKey: Album(id: 0, title: "Infections", artistID: artist.id))
    }
    #expect(album == Album(id: 1, title: "Infections", artistID: 1, artistName: "Aurora"))
  }

  @Test func theChangeHasTheChosenKey() throws {
    let changes = try store.writeReturningChanges { tx in
      try tx.insert(generatingKey: Task(title: "Buy bread"))
    }.changes.changes
    #expect(changes.map { "\($0.operation) \($0.model) \($0.key)" } == ["insert Task [1]"])
  }

  @Test func aRefusedRecordLeavesTheTransactionOpen() throws {
    let task = try store.write { tx in
      let error = failure { try tx.insert(generatingKey: Task(title: " ")) }
      #expect(error?.code == .rejected)
      #expect(error?.violations.map(\.rule) == ["Task.title.notBlank"])
      return try tx.insert(generatingKey: Task(title: "Call Ann"))
    }
    #expect(try store.fetch(Task.all) == [task])
  }

  @Test func aKeyThatIsNotAnIntegerIsRefused() throws {
    let error = failure { try store.write { tx in try tx.insert(generatingKey: Label()) } }
    #expect(
      error
        == StoreError(
          .misuse,
          "Label: SQLite cannot choose the key (name), because it is not a single integer. Set the key, and call insert(_:).",
          model: "Label", field: "name"))
    #expect(try store.fetch(Label.all) == [])
  }
}
