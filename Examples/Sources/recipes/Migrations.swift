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

/// The second version: the field has another name, and a migration renames it in older files.
struct Member: CodableModel {
  var id: Int64
  var fullName: String
  var key: Int64 { id }

  static let definition = ModelDefinition<Member>(
    "Member", key: \.id, fields: [.init("id", \.id), .init("fullName", \.fullName)])
}

let renameName = Migration(
  version: 1, name: "rename name", sql: "ALTER TABLE Member RENAME COLUMN name TO fullName")

/// Old files are migrated; new files begin with the tables of the second version.
func migrate(_ path: String) throws {
  try Store(at: path, models: Version1.Member.self).write { tx in
    try tx.insert(Version1.Member(id: 1, name: "Ada"))
  }
  let store = try Store(at: path, models: Member.self, migrations: [renameName])
  print(try store.fetch(Member.all).map(\.fullName))
  let fresh = try Store.inMemory(models: Member.self, migrations: [renameName])
  print(try fresh.count(Member.all))
}
