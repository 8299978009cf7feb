import ModelStore
import RecordFormats

/// An SQL statement of a session that changes records. Rules, bindings and the change journal apply
/// to it as to every write, and it reports its changes as the commands do.
struct SessionStatement {
  let sql: String

  func run(in session: Session) -> ExitCode {
    let context = session.context.command(in: session)
    return Program.perform(context) {
      let opened = try context.openForWriting()
      try checkValidators(opened)
      var returned: ReturnedRows?
      try context.writing(opened, counting: .rows) { transaction in
        returned = try execute(transaction)
        let row = try transaction.rows("SELECT changes() AS number").first
        guard case .integer(let number) = row?["number"] else { return 0 }
        return Int(number)
      }
      // Only now are the rows written, or part of the open transaction.
      if let returned, !returned.columns.isEmpty { try show(returned, context) }
      return .ok
    }
  }

  private func show(_ returned: ReturnedRows, _ context: CommandContext) throws {
    var writer = try context.reportWriter(columns: returned.columns.map { OutputColumn($0) })
    for row in returned.rows { try writer.write(row.map { CellValue($0) }) }
    try context.finish(writer)
  }

  private func execute(_ transaction: borrowing WriteTransaction) throws -> ReturnedRows {
    do {
      return try transaction.executeReturning(SQLText(sql: sql))
    } catch let error as StoreError where error.code == .invalidQuery {
      // The person wrote the statement; the store did not build it from the catalog.
      throw CommandError(.usage, code: error.code.rawValue, error.message, hint: "models")
    }
  }

  /// Refuses a statement that writes records of models whose validators only their own program can
  /// run. Which records it writes is known when it has run.
  private func checkValidators(_ opened: OpenedStore) throws {
    guard try opened.store.declaredValidators().contains(where: { !$0.isInForce }) else { return }
    let changes = try opened.changes(mode: .preview) { _ = try execute($0) }
    let written = ChangeReport(changes, in: opened.store.schema).lines
      .filter { $0.origin == .user }.map(\.model)
    for model in Set(written).sorted() {
      let validators = try opened.missingValidators(of: model)
      guard validators.isEmpty else {
        throw CommandError(
          .rejected, code: "codeValidators",
          "\(model) has validators in Swift that only its own program can run: "
            + "\(validators.joined(separator: ", ")).",
          hint: "write through that program, or use update with --skip-code-validators",
          model: model)
      }
    }
  }
}
