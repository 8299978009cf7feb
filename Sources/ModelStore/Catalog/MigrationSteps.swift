/// What applying or reverting migrations would do. A plain value.
package struct MigrationSteps: Hashable, Sendable {
  /// What happens to one migration.
  package enum Action: Hashable, Sendable {
    /// These statements run, in one transaction.
    case run([String])
    /// Code runs.
    case runCode
    /// It is recorded as applied, and does not run: it only changes tables that are created in
    /// their present form.
    case skip
    /// It is recorded in place of the migrations for which it stands, and does not run.
    case squash
    /// These statements take it back, in one transaction.
    case revert([String])
    /// Code takes it back.
    case revertByCode
  }

  package struct Step: Hashable, Sendable {
    package let version: Int64
    package let name: String
    package let action: Action
  }

  /// The statements that create tables and indexes of models before the first step.
  package let created: [String]
  /// In the order in which they happen.
  package let steps: [Step]

  package var isEmpty: Bool { created.isEmpty && steps.isEmpty }
}

extension MigrationSteps {
  init(_ pending: PendingMigrations, by plan: FreshFilePlan) {
    created = plan.created.flatMap { SchemaSQL($0).objects }.map(\.sql)
    steps = pending.all.map { migration in
      let action: Action =
        if pending.squashes.contains(migration.version) {
          .squash
        } else if plan.skipped.contains(migration.version) {
          .skip
        } else if migration.isSwift {
          .runCode
        } else {
          .run(MigrationScript(migration).statements)
        }
      return Step(version: migration.version, name: migration.name, action: action)
    }
  }
}
