#if !Postgres
  import Testing

  /// Stands for the suites of this target where the trait is off, so that the run lists them.
  @Suite(.tags(.process)) struct PostgresTraitTests {
    @Test(.enabled(if: false, "Without libpq the trait Postgres is off."))
    func ledgersInPostgreSQL() {}
  }
#endif
