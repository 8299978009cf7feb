#if Postgres
  internal import ModelStore

  /// The table of one model in a mirror.
  struct MirrorTable: Sendable {
    let model: ModelSchema
    /// In the order of the model's fields.
    let columns: [MirrorColumn]
    /// In the order of the key.
    let keyColumns: [MirrorColumn]
    /// The quoted name with its schema.
    let name: String
    private let schema: String

    /// - Parameter schema: The schema of the mirror in PostgreSQL.
    /// - Throws: `StoreError` with code `unsupportedSchema`.
    init(_ model: ModelSchema, in schema: String) throws(StoreError) {
      self.model = model
      self.schema = MirrorColumn.quoted(schema)
      name = Self.name(of: model.name, in: schema)
      let names = model.fields.map(\.name)
      var columns: [MirrorColumn] = []
      for field in model.fields {
        let isKey = model.key.contains(field.name)
        columns.append(try MirrorColumn(field, isKey: isKey, beside: names, of: model.name))
      }
      self.columns = columns
      keyColumns = model.keyIndices.map { columns[$0] }
      if model.name == MirrorTransaction.stateTableName
        || names.contains(where: Self.systemColumns.contains)
      {
        throw StoreError(
          .unsupportedSchema,
          "\(model.name) cannot be mirrored, because PostgreSQL or the mirror has its name or one of its fields' names. Leave it out of the mirror.",
          model: model.name)
      }
      let identifiers = [model.name] + names + columns.compactMap(\.time?.name)
      guard let long = identifiers.first(where: { $0.utf8.count > Self.nameByteCountMax }) else {
        return
      }
      throw StoreError(
        .unsupportedSchema,
        "PostgreSQL's names have at most \(Self.nameByteCountMax) bytes, and \(long) has more. Leave \(model.name) out of the mirror.",
        model: model.name)
    }

    /// <https://www.postgresql.org/docs/15/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS>.
    private static let nameByteCountMax = 63

    /// <https://www.postgresql.org/docs/15/ddl-system-columns.html>.
    private static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    static func name(of model: String, in schema: String) -> String {
      "\(MirrorColumn.quoted(schema)).\(MirrorColumn.quoted(model))"
    }

    /// The definitions of the columns and the key, as the mirror remembers them.
    var shape: String { definitions.joined(separator: Self.separator) }

    private static let separator = ",\n"

    /// The columns that a table of an earlier shape lacks; nil if it must be created again.
    func additions(to shape: String) -> [Statement]? {
      let earlier = Set(shape.split(separator: Self.separator).map(String.init))
      guard earlier.isSubset(of: definitions), earlier.contains(definitions.last ?? "") else {
        return nil
      }
      return definitions.filter { !earlier.contains($0) }
        .map { .once("ALTER TABLE \(name) ADD COLUMN \($0)") }
    }

    /// The key is the last one.
    private var definitions: [String] {
      let columns = columns.flatMap { column in
        let time = column.time.map { time in
          let name = MirrorColumn.quoted(time.name)
          return "\(name) timestamptz GENERATED ALWAYS AS (\(time.expression)) STORED"
        }
        return ["\(MirrorColumn.quoted(column.name)) \(column.type)"] + (time.map { [$0] } ?? [])
      }
      let key = keyColumns.map { MirrorColumn.quoted($0.name) }.joined(separator: ", ")
      return columns + ["PRIMARY KEY (\(key))"]
    }

    /// Whether the table can have a row with this key.
    func canHold(_ key: [SQLValue]) -> Bool {
      zip(keyColumns, key).allSatisfy { column, value in
        do throws(MirrorColumn.Problem) {
          return try column.encoded(value) != nil
        } catch {
          return false
        }
      }
    }

    // Statements

    /// Creates the table, and refuses changes by other programs.
    var creation: [Statement] {
      let trigger = """
        CREATE TRIGGER _modelstore_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(name)
        EXECUTE FUNCTION \(schema)._modelstore_guard()
        """
      return [.once("CREATE TABLE \(name) (\(shape))"), .once(trigger)]
    }

    var deleteAll: Statement { .once("DELETE FROM \(name)") }

    var count: Statement { .once("SELECT count(*) FROM \(name)") }

    /// Inserts rows, or updates those with the same keys. Its arguments are the columns' values.
    var upsert: Statement {
      let names = columns.map { MirrorColumn.quoted($0.name) }
      let others = columns.map(\.name).filter { name in !keyColumns.contains { $0.name == name } }
      let changes = others.map(MirrorColumn.quoted).map { "\($0) = EXCLUDED.\($0)" }
      let change = changes.isEmpty ? "NOTHING" : "UPDATE SET " + changes.joined(separator: ", ")
      let key = keyColumns.map { MirrorColumn.quoted($0.name) }.joined(separator: ", ")
      return .once(
        """
        INSERT INTO \(name) (\(names.joined(separator: ", ")))
        SELECT \(Self.values(columns).joined(separator: ", ")) FROM \(Self.rows(columns))
        ON CONFLICT (\(key)) DO \(change)
        """)
    }

    /// Deletes the rows with these keys.
    var delete: Statement {
      .once("DELETE FROM \(name) AS t USING \(Self.rows(keyColumns)) WHERE \(hasKey(keyColumns))")
    }

    /// Returns the places of rows that differ from the arguments, counted from 1, and whether they
    /// are missing.
    var compare: Statement {
      let values = Self.values(columns)
      let differences = zip(columns, values).map { column, value in
        // The type json has no equality.
        let cast = column.type == "json" ? "::text" : ""
        return "t.\(MirrorColumn.quoted(column.name))\(cast) IS DISTINCT FROM (\(value))\(cast)"
      }
      let isMissing = "t.\(MirrorColumn.quoted(keyColumns[0].name)) IS NULL"
      return .once(
        """
        SELECT v.place, \(isMissing)
        FROM \(Self.rows(columns, numbered: true)) LEFT JOIN \(name) AS t ON \(hasKey(columns))
        WHERE \(isMissing) OR \(differences.joined(separator: " OR "))
        ORDER BY v.place
        """)
    }

    /// Creates a temporary table for the keys that the store has, to find those that only the
    /// mirror has.
    var noteKeys: [Statement] {
      let names = keyColumns.map { "t.\(MirrorColumn.quoted($0.name))" }.joined(separator: ", ")
      return [
        .once("DROP TABLE IF EXISTS pg_temp._modelstore_keys"),
        .once(
          "CREATE TEMP TABLE _modelstore_keys ON COMMIT DROP AS SELECT \(names) FROM \(name) t LIMIT 0"
        ),
      ]
    }

    var noteKey: Statement {
      let values = Self.values(keyColumns).joined(separator: ", ")
      return .once(
        "INSERT INTO pg_temp._modelstore_keys SELECT \(values) FROM \(Self.rows(keyColumns))")
    }

    var unknownKeys: Statement {
      let names = keyColumns.map { MirrorColumn.quoted($0.name) }
      let cells = zip(keyColumns, names).map { "t.\($1)::\($0.form.name)" }
      let isSame = names.map { "k.\($0) = t.\($0)" }.joined(separator: " AND ")
      return .once(
        """
        SELECT \(cells.joined(separator: ", ")) FROM \(name) AS t
        WHERE NOT EXISTS (SELECT FROM pg_temp._modelstore_keys AS k WHERE \(isSame))
        ORDER BY \(names.joined(separator: ", ")) LIMIT $1
        """)
    }

    /// The arguments as rows `v`, with the columns `c1`, `c2`, ….
    private static func rows(_ columns: [MirrorColumn], numbered: Bool = false) -> String {
      let arrays = columns.enumerated().map { "$\($0 + 1)::\($1.form.name)[]" }
      let names = columns.indices.map { "c\($0 + 1)" } + (numbered ? ["place"] : [])
      let suffix = numbered ? " WITH ORDINALITY" : ""
      return
        "unnest(\(arrays.joined(separator: ", ")))\(suffix) AS v (\(names.joined(separator: ", ")))"
    }

    private static func values(_ columns: [MirrorColumn]) -> [String] {
      columns.enumerated().map { index, column in
        // A cast would change no value.
        column.type.hasPrefix(column.form.name)
          ? "v.c\(index + 1)" : "v.c\(index + 1)::\(column.type)"
      }
    }

    /// Whether a row `t` of the table has the key of an argument's row.
    private func hasKey(_ columns: [MirrorColumn]) -> String {
      let values = Self.values(columns)
      return keyColumns.map { key in
        let place = columns.firstIndex { $0.name == key.name } ?? 0
        return "t.\(MirrorColumn.quoted(key.name)) = \(values[place])"
      }.joined(separator: " AND ")
    }
  }

  /// Rows or keys of one table on their way to PostgreSQL.
  struct MirrorRows {
    private let table: MirrorTable
    private let columns: [MirrorColumn]
    private var arrays: [ArrayArgument]

    /// - Parameter columns: All of the table's, or those of its key.
    init(_ columns: [MirrorColumn], of table: MirrorTable) {
      self.table = table
      self.columns = columns
      arrays = columns.map { ArrayArgument($0.form) }
    }

    var count: Int { arrays[0].count }
    var isFull: Bool { count >= 1_000 || arrays.reduce(0) { $0 + $1.byteCount } >= 1 << 20 }
    var arguments: [Argument] { arrays.map { .array($0) } }

    /// Appends a row, unless a column cannot hold its value.
    ///
    /// - Parameters:
    ///   - values: In the order of the columns.
    ///   - key: The key of the record, for the error.
    /// - Throws: `StoreError` with code `invalidValue`.
    mutating func append(_ values: [SQLValue], key: [SQLValue]) throws(StoreError) {
      var cells: [[UInt8]?] = []
      for (column, value) in zip(columns, values) {
        do throws(MirrorColumn.Problem) {
          cells.append(try column.encoded(value))
        } catch {
          let model = table.model.name
          throw StoreError(
            .invalidValue,
            "\(model) \(key.map(\.description).joined(separator: ", ")): \(column.name) \(error.text). The mirror was not changed. Change the value, or remove \(model) from the mirror.",
            model: model, field: column.name, key: key)
        }
      }
      for (index, cell) in cells.enumerated() { arrays[index].append(cell) }
    }

    mutating func removeAll() { arrays = arrays.map { ArrayArgument($0.form) } }
  }
#endif
