/// The tables, indexes, triggers and views of a shared store.
enum SharedSchema {
  static func digest(on connection: Connection) throws -> [UInt8] {
    var digest = SHA256()
    try connection.forEachRow(
      "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema ORDER BY type, name"
    ) { row in
      for column in 0..<4 {
        let text = Array(try row.text(at: column).utf8)
        digest.update(UInt64(text.count))
        digest.update(text)
      }
    }
    return digest.finish()
  }
}
