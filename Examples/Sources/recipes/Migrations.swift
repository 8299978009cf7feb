import ModelStore

/// The first version of a program: its table is created with its model.
enum Version1 {
  struct Member: CodableModel {
    var id: Int64
    var name: String
    var key: Int64 { id }

    static let definition = ModelDefinition<Member>(
      "Member", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])
  }
}

/// The second version: a new field, and a migration that adds it to files of the first.
struct Member: CodableModel {
  var id: Int64
  var name: String
  var joined = 2026
  var key: Int64 { id }

  static let definition = ModelDefinition<Member>(
    "Member", key: \.id,
    fields: [.init("id", \.id), .init("name", \.name), .init("joined", \.joined)])
}

let addJoined = Migration(
  version: 1, name: "add joined",
  sql: "ALTER TABLE Member ADD COLUMN joined INTEGER NOT NULL DEFAULT 2020")

/// Old files are migrated; new files begin with the tables of the second version.
func migrate(_ path: String) throws {
  try Store(at: path, models: Version1.Member.self).write { tx in
    try tx.insert(Version1.Member(id: 1, name: "Ada"))
  }
  let store = try Store(at: path, models: Member.self, migrations: [addJoined])
  print(try store.fetch(Member.all))
  print(try Store.inMemory(models: Member.self, migrations: [addJoined]).count(Member.all))
}
