#if Postgres
  public import ModelStore

  extension SharedLedger {
    /// A ledger in PostgreSQL 14 or later, for `StoreConfiguration.ledger`. It connects when the
    /// store opens.
    ///
    /// ```swift
    /// configuration.ledger = try .postgres("postgresql://app@db/app", store: "music")
    /// ```
    ///
    /// The user needs the right to create a schema in the database when the store is founded, and
    /// the rights on the schema `modelstore` afterwards.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq. It may name several hosts: the first one that
    ///     can write is used. Keep a password out of it where you can, for example with a password
    ///     file (<https://www.postgresql.org/docs/current/libpq-pgpass.html>).
    ///   - store: The name of the store in the database.
    /// - Throws: `StoreError` with code `ledgerUnavailable` if the connection string is
    ///   malformed.
    public static func postgres(_ connection: String, store: String) throws -> SharedLedger {
      let ledger: PostgresLedger
      do {
        ledger = try PostgresLedger(connection: connection, store: store)
      } catch let error as LedgerError {
        throw error.storeError
      }
      return SharedLedger(name: store, description: "PostgreSQL \(ledger.string.identity)") {
        ledger
      }
    }
  }
#endif
