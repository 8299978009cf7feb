#if Postgres
  internal import ModelStore

  /// The tables of ledgers in a database, and their statements.
  enum LedgerTables {
    /// The version of the tables. A newer one is refused.
    static let layout: Int64 = 1

    /// Creates what is missing, in one transaction.
    static let creation: [Statement] = [
      .begin, lockCreation,
      .once("CREATE SCHEMA IF NOT EXISTS modelstore"),
      // A row is updated with each commit. The free space keeps it on its page.
      .once(
        """
        CREATE TABLE IF NOT EXISTS modelstore.heads(
          store text PRIMARY KEY, number bigint NOT NULL, hash bytea NOT NULL,
          epoch bigint NOT NULL, schema bytea NOT NULL,
          founding_number bigint NOT NULL, founding_hash bytea NOT NULL
        ) WITH (fillfactor = 10)
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS modelstore.commits(
          store text NOT NULL, number bigint NOT NULL, tx bigint NOT NULL,
          hash bytea NOT NULL, record bytea NOT NULL,
          PRIMARY KEY (store, number), UNIQUE (store, tx)
        )
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS modelstore.snapshots(
          store text NOT NULL, number bigint NOT NULL, part integer NOT NULL,
          hash bytea NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (store, number, part)
        )
        """),
      .once(
        """
        CREATE TABLE IF NOT EXISTS modelstore.members(
          store text NOT NULL, member bigint NOT NULL, number bigint NOT NULL,
          seen_at timestamptz NOT NULL, PRIMARY KEY (store, member)
        )
        """),
      .once("CREATE TABLE IF NOT EXISTS modelstore.layout(version bigint NOT NULL)"),
      .once(
        """
        INSERT INTO modelstore.layout SELECT \(layout)
        WHERE NOT EXISTS (SELECT FROM modelstore.layout)
        """),
      .layout, .commit,
    ]

    /// `CREATE … IF NOT EXISTS` fails if another transaction creates the same.
    private static let lockCreation = Statement.once(
      "SELECT pg_advisory_xact_lock(hashtextextended('modelstore', 0))")
  }

  extension Statement {
    static let layout = once("SELECT version FROM modelstore.layout")

    // Turns

    static let lockHead = Statement(
      "ms_lock",
      """
      SELECT number, hash, epoch, schema, \(replication)
      FROM modelstore.heads WHERE store = $1 FOR UPDATE
      """)
    /// A statement of its own, after the lock: the snapshot of one that waits for the lock is older
    /// than the lock, so it would miss commits.
    static let missed = Statement(
      "ms_missed",
      """
      SELECT number, tx, hash, record, \(replication)
      FROM modelstore.commits WHERE store = $1 AND number > $2 ORDER BY number
      """)
    /// Inserts nothing if the head is not the commit before.
    static let append = Statement(
      "ms_append",
      """
      WITH moved AS (
        UPDATE modelstore.heads SET number = $2, hash = $4
        WHERE store = $1 AND number = $6 AND hash = $7 RETURNING store
      )
      INSERT INTO modelstore.commits(store, number, tx, hash, record)
      SELECT store, $2, $3, $4, $5 FROM moved RETURNING \(replication)
      """)
    /// As ``append``, with another schema.
    static let appendSchema = Statement(
      "ms_app_schema",
      """
      WITH moved AS (
        UPDATE modelstore.heads SET number = $2, hash = $4, epoch = $8, schema = $9
        WHERE store = $1 AND number = $6 AND hash = $7 RETURNING store
      )
      INSERT INTO modelstore.commits(store, number, tx, hash, record)
      SELECT store, $2, $3, $4, $5 FROM moved RETURNING \(replication)
      """)
    static let find = Statement(
      "ms_find",
      "SELECT number FROM modelstore.commits WHERE store = $1 AND tx = $2")

    // Reading

    static let head = Statement(
      "ms_head",
      """
      SELECT number, hash, epoch, schema, \(replication)
      FROM modelstore.heads WHERE store = $1
      """)
    /// A page of at most `$3` commits. It ends with the commit that exceeds `$4` bytes.
    static let page = Statement(
      "ms_page",
      """
      SELECT number, tx, hash, record, \(replication) FROM (
        SELECT number, tx, hash, record,
          sum(octet_length(record)) OVER (ORDER BY number) - octet_length(record) AS before
        FROM modelstore.commits WHERE store = $1 AND number > $2 ORDER BY number LIMIT $3
      ) AS page WHERE before < $4 ORDER BY number
      """)
    static let hash = Statement(
      "ms_hash",
      """
      SELECT hash FROM modelstore.commits WHERE store = $1 AND number = $2
      UNION ALL
      SELECT founding_hash FROM modelstore.heads WHERE store = $1 AND founding_number = $2
      """)
    static let members = Statement(
      "ms_members",
      """
      SELECT member, number, (extract(epoch FROM seen_at) * 1000000)::bigint
      FROM modelstore.members WHERE store = $1 ORDER BY seen_at DESC, member
      """)

    // Founding, snapshots, members

    static let found = Statement(
      "ms_found",
      """
      INSERT INTO modelstore.heads(
        store, number, hash, epoch, schema, founding_number, founding_hash)
      VALUES ($1, $2, $3, $4, $5, $2, $3) ON CONFLICT DO NOTHING
      """)
    /// One member at a time publishes a snapshot of a store. The lock goes with the transaction.
    static let lockSnapshots = Statement(
      "ms_lock_snap",
      "SELECT pg_try_advisory_xact_lock(hashtextextended('modelstore ' || $1, 1))")
    /// The bytes of records after the newest snapshot. The length of a stored record is known
    /// without reading it.
    static let recordBytes = Statement(
      "ms_bytes",
      """
      SELECT coalesce(sum(octet_length(record)), 0)::bigint FROM modelstore.commits
      WHERE store = $1 AND number >
        (SELECT max(number) FROM modelstore.snapshots WHERE store = $1)
      """)
    static let newestSnapshot = Statement(
      "ms_newest_snap",
      """
      SELECT number, hash, count(*) FROM modelstore.snapshots
      WHERE store = $1 GROUP BY number, hash ORDER BY number DESC LIMIT 1
      """)
    static let snapshotPart = Statement(
      "ms_part",
      "SELECT bytes FROM modelstore.snapshots WHERE store = $1 AND number = $2 AND part = $3")
    static let addSnapshotPart = Statement(
      "ms_add_part",
      """
      INSERT INTO modelstore.snapshots(store, number, part, hash, bytes)
      VALUES ($1, $2, $3, $4, $5)
      """)
    static let dropSnapshots = Statement(
      "ms_drop_snap",
      "DELETE FROM modelstore.snapshots WHERE store = $1 AND number < $2")
    static let dropCommits = Statement(
      "ms_drop_commits",
      "DELETE FROM modelstore.commits WHERE store = $1 AND number < $2")
    static let dropMembers = Statement(
      "ms_drop_members",
      """
      DELETE FROM modelstore.members
      WHERE store = $1 AND seen_at < clock_timestamp() - interval '30 days'
      """)
    static let note = Statement(
      "ms_note",
      """
      INSERT INTO modelstore.members(store, member, number, seen_at)
      SELECT store, $2, $3, clock_timestamp() FROM modelstore.heads WHERE store = $1
      ON CONFLICT (store, member)
      DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at
      """)
    /// A note may be lost in a crash, so its COMMIT waits for no disk.
    static let relax = Statement(
      "ms_relax",
      "SET LOCAL synchronous_commit = off")
  }
#endif
