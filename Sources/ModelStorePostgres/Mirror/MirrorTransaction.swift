#if Postgres
  internal import ModelStore

  /// One transaction on a mirror, which no other program changes meanwhile.
  struct MirrorTransaction {
    /// The mirror's schema in PostgreSQL.
    let schema: String
    private let lease: ConnectionLane.Lease
    private let limits: Limits
    /// What the mirror had when the transaction began, by model.
    let states: [String: State]

    /// The mirror's state of one model.
    struct State: Sendable {
      let shape: String
      /// The hash of the model's layout in the journal.
      let layout: Int64
      let bookmark: JournalBookmark
      /// The store of the latest update.
      let source: String
      /// Whether the table is there. Another program may have dropped it, or put another one there.
      let isPresent: Bool
    }

    /// Begins the transaction.
    ///
    /// - Throws: ``LedgerError``.
    init(_ lane: ConnectionLane, schema: String, _ limits: Limits) throws {
      let state = Self.stateTable(schema)
      (lease, states) = try lane.lease(until: nil) { connection in
        try connection.limitLocks(to: Self.patience, limits)
        let found = try connection.run(
          [(.begin, []), (.lockMirror, [.text(schema)]), (.findTable, [.text(state)])],
          until: limits.answerTime + Self.patience)
        guard found[2].rowCount == 1 else { return [:] }
        let rows = try connection.run(
          [(.mirrorStates(state), [.text(schema)])], until: limits.answerTime)[0]
        return Self.states(rows)
      }
      self.schema = schema
      self.limits = limits
    }

    /// How long an update waits for another one of the same mirror.
    private static let patience = Duration.seconds(30)

    private static func states(_ rows: PostgresResult) -> [String: State] {
      var states: [String: State] = [:]
      for row in 0..<rows.rowCount {
        states[rows.text(row, 0)] = State(
          shape: rows.text(row, 1), layout: rows.integer(row, 2),
          bookmark: JournalBookmark(
            position: JournalPosition(rawValue: rows.integer(row, 3)), hash: rows.integer(row, 4)),
          source: rows.text(row, 5), isPresent: rows.integer(row, 6) == 1)
      }
      return states
    }

    /// The name of the table with the mirror's states.
    static let stateTableName = "_modelstore_mirror"

    private static func stateTable(_ schema: String) -> String {
      MirrorTable.name(of: stateTableName, in: schema)
    }

    // Statements

    @discardableResult
    func run(_ statement: Statement, _ arguments: [Argument] = []) throws -> PostgresResult {
      try lease.connection.run([(statement, arguments)], until: .now + limits.work)[0]
    }

    /// - Throws: `StoreError` with code `mirrorUnavailable` if it is unknown whether PostgreSQL has
    ///   the transaction.
    func commit() throws {
      do {
        let tag = try run(.commit).tag
        guard tag == "COMMIT" else { throw PostgresFailure.lost("PostgreSQL answered \(tag).") }
      } catch let failure as PostgresFailure where failure.isFatal {
        throw StoreError(
          .mirrorUnavailable,
          "The connection broke during COMMIT, so it is unknown whether the mirror was changed. Update it again: it continues from its state. PostgreSQL says: \(failure.text)"
        )
      }
      lease.end()
    }

    /// Creates the schema, the table of states, and the function that refuses other programs.
    func prepare() throws {
      guard states.isEmpty, try run(.findTable, [.text(stateTable)]).rowCount == 0 else { return }
      let name = MirrorColumn.quoted(schema)
      if try run(.findSchema, [.text(schema)]).rowCount == 0 {
        try run(.once("CREATE SCHEMA \(name)"))
        try run(.once("COMMENT ON SCHEMA \(name) IS '\(Self.schemaComment)'"))
      }
      try run(
        .once(
          """
          CREATE TABLE \(stateTable) (model text PRIMARY KEY, shape text NOT NULL,
            layout bigint NOT NULL, position bigint NOT NULL, hash bigint NOT NULL,
            source text NOT NULL)
          """))
      try run(
        .once(
          """
          CREATE OR REPLACE FUNCTION \(name)._modelstore_guard() RETURNS trigger
          LANGUAGE plpgsql AS '
          BEGIN
            IF current_setting(''modelstore.mirror'', true) IS DISTINCT FROM ''on'' THEN
              RAISE EXCEPTION ''% is a mirror of a ModelStore. Change the record in the store.'',
                TG_TABLE_NAME;
            END IF;
            RETURN NULL;
          END'
          """))
    }

    private var stateTable: String { Self.stateTable(schema) }

    /// Creates the table of a model again.
    ///
    /// - Throws: ``PostgresFailure`` if a table that is not the mirror's has its name.
    func create(_ table: MirrorTable) throws {
      if states[table.model.name]?.isPresent == true { try run(.once("DROP TABLE \(table.name)")) }
      for statement in table.creation { try run(statement) }
    }

    /// Drops the table of a model, if it is the mirror's.
    func drop(_ model: String) throws {
      if states[model]?.isPresent == true {
        try run(.once("DROP TABLE \(MirrorTable.name(of: model, in: schema))"))
      }
      try run(.once("DELETE FROM \(stateTable) WHERE model = $1"), [.text(model)])
    }

    /// Drops everything, and the schema if the mirror created it and nothing else is in it.
    func removeAll() throws {
      guard try run(.findTable, [.text(stateTable)]).rowCount == 1 else { return }
      for model in states.keys.sorted() { try drop(model) }
      let name = MirrorColumn.quoted(schema)
      try run(.once("DROP TABLE \(stateTable)"))
      try run(.once("DROP FUNCTION IF EXISTS \(name)._modelstore_guard()"))
      let found = try run(.findOwnSchema, [.text(schema), .text(Self.schemaComment)])
      if found.rowCount == 1 { try run(.once("DROP SCHEMA \(name)")) }
    }

    private static let schemaComment = "A mirror of a ModelStore"

    /// Notes that these tables have the state of the store after `bookmark`.
    ///
    /// - Parameters:
    ///   - layouts: The hashes of the models' layouts in the journal.
    ///   - source: The store.
    func save(
      _ tables: [MirrorTable], at bookmark: JournalBookmark, layouts: [String: Int64],
      of source: String
    ) throws {
      let statement = Statement.once(
        """
        INSERT INTO \(stateTable) (model, shape, layout, position, hash, source)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (model) DO UPDATE
        SET shape = EXCLUDED.shape, layout = EXCLUDED.layout, position = EXCLUDED.position,
          hash = EXCLUDED.hash, source = EXCLUDED.source
        """)
      for table in tables {
        try run(
          statement,
          [
            .text(table.model.name), .text(table.shape), .integer(layouts[table.model.name] ?? 0),
            .integer(bookmark.position.rawValue), .integer(bookmark.hash), .text(source),
          ])
      }
    }
  }

  extension Statement {
    /// One program at a time changes a mirror, and until the end of the transaction the guards let
    /// this one through. Reading the store may take long, so the limit between two statements is
    /// ten minutes.
    fileprivate static let lockMirror = once(
      """
      SELECT pg_advisory_xact_lock(hashtextextended('modelstore.mirror.' || $1, 0))::text,
        set_config('modelstore.mirror', 'on', true),
        set_config('idle_in_transaction_session_timeout', '600000', true)
      """)
    fileprivate static let findTable = once("SELECT 1 WHERE to_regclass($1) IS NOT NULL")
    fileprivate static let findSchema = once("SELECT 1 FROM pg_namespace WHERE nspname = $1")
    /// A schema with the mirror's comment, and without a relation, a function and a type.
    fileprivate static let findOwnSchema = once(
      """
      SELECT 1 FROM pg_namespace AS n
      WHERE nspname = $1 AND obj_description(n.oid, 'pg_namespace') = $2
        AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid)
        AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid)
        AND NOT EXISTS (SELECT FROM pg_type WHERE typnamespace = n.oid)
      """)

    fileprivate static func mirrorStates(_ table: String) -> Statement {
      once(
        """
        SELECT model, shape, layout, position, hash, source,
          (SELECT count(*) FROM pg_trigger
            WHERE tgname = '_modelstore_guard'
              AND tgrelid = to_regclass(format('%I.%I', $1, model)))
        FROM \(table)
        """)
    }
  }
#endif
