import ModelStore
import RecordFormats

// `adopt --refresh`: adopted models follow their tables.
extension AdoptCommand {
  /// Brings adopted models up to date with their tables.
  func refreshModels(_ context: CommandContext) throws -> ExitCode {
    let writer = try context.reportWriter(
      columns: [
        OutputColumn("model", role: .key), OutputColumn("state"),
        OutputColumn("changes", meaning: .json), OutputColumn("types", meaning: .json),
        OutputColumn("removed", meaning: .json),
      ])
    let opened = try context.openToLook()
    for name in names { _ = try opened.model(named: name) }
    let models = names.isEmpty ? nil : names
    let planned = try opened.store.modelRefreshes(models, mode: .preview)
    try Self.checkDependents(of: planned)
    let entered = Set(try opened.store.changeJournal.details().keys)
    opened.store.close()
    guard !change.dryRun, !planned.isEmpty else {
      try report(planned, to: writer, context)
      return .ok
    }
    var writing = try context.openForWriting()
    let done = try context.changeCatalog(through: &writing) { try $0.modelRefreshes(models) }
    try context.reporting {
      try report(done, to: writer, context)
      for refresh in done where refresh.schema != nil && entered.contains(refresh.name) {
        try context.console.say(
          "changes of \(refresh.name) may be missing in the journal before now "
            + "(\(Program.name) history \(Shell.quoted(refresh.name)))")
      }
    }
    return .ok
  }

  private func report(
    _ refreshes: [ModelRefresh], to writer: any RowWriter, _ context: CommandContext
  ) throws {
    var writer = writer
    for refresh in refreshes {
      let differences = refresh.drift.differences
      let types = refresh.decisions.map { "\($0.field) \(TypeWords.text($0.type, $0.form))" }
      try writer.write([
        .text(refresh.name), .text(refresh.schema == nil ? "removed" : "refreshed"),
        try context.list(
          differences.map(Self.json),
          as: differences.isEmpty
            ? "Other indexes." : refresh.drift.sentences.joined(separator: " ")),
        try context.list(refresh.decisions.map(TypeWords.json), as: types.joined(separator: ", ")),
        try context.list(
          refresh.removed.map(Self.json),
          as: refresh.removed.map { "\($0.kind.rawValue) \($0.name)" }.joined(separator: ", ")),
      ])
    }
    try context.finish(writer)
    try context.console.say(
      refreshes.flatMap { refresh in
        refresh.decisions.map { TypeWords.remark($0, of: refresh.name) }
      })
    try context.console.say(Self.summary(refreshes, isDryRun: change.dryRun))
  }

  private static func summary(_ refreshes: [ModelRefresh], isDryRun: Bool) -> String {
    guard !refreshes.isEmpty else { return "the adopted models are as their tables" }
    let removedCount = refreshes.count { $0.schema == nil }
    let modal = isDryRun ? "would be " : ""
    let parts = [
      (refreshes.count - removedCount, "refreshed"), (removedCount, "removed"),
    ].filter { $0.0 > 0 }.map { "\(Grouped.text($0, "model")) \(modal)\($1)" }
    return parts.joined(separator: ", ") + (isDryRun ? "; dry run: nothing was written" : "")
  }

  private static func json(_ difference: SchemaDrift.Difference) -> JSONValue {
    .object([
      .init("subject", .string(difference.subject.rawValue)),
      .init("name", .string(difference.name)),
      .init("reason", .string(difference.reason.rawValue)),
      .init("sentence", difference.sentence.map { .string($0) } ?? .null),
    ])
  }

  private static func json(_ dependent: ModelDependent) -> JSONValue {
    .object([
      .init("kind", .string(dependent.kind.rawValue)), .init("name", .string(dependent.name)),
    ])
  }

  /// The error for bindings and rules that need removed columns, with the commands that drop them.
  private static func checkDependents(of refreshes: [ModelRefresh]) throws {
    let broken = refreshes.filter { !$0.dependents.isEmpty }
    guard !broken.isEmpty else { return }
    let names = broken.map(\.name).joined(separator: ", ")
    let dependents = broken.flatMap(\.dependents)
    throw CommandError(
      .failed, code: StoreError.Code.unsupportedSchema.rawValue,
      "\(names) cannot be refreshed, because bindings or rules need what is gone; nothing was changed.",
      details: dependents.map { "  \($0.kind.rawValue) \($0.name): \($0.reason)" },
      hint: dependents.first.map(\.dropping),
      model: broken.count == 1 ? broken[0].name : nil)
  }
}

extension ModelDependent {
  /// The command that drops it.
  var dropping: String {
    switch kind {
    case .binding: "storecli bindings drop \(Shell.quoted(name))"
    case .rule: "storecli rules drop \(Shell.quoted(name))"
    case .validator, .list: "storecli leave --help"
    }
  }
}
