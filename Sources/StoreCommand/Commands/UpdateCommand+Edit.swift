import ModelStore
import RecordFormats

// A record in an editor. While it is open, the store is closed: no lock is held.
extension UpdateCommand {
  /// The record and what may be changed in it, as they were when the editor opened.
  fileprivate struct Subject {
    let record: DynamicRecord
    let text: RecordText
  }

  func edit(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook(at: [model])
    let schema = try looked.writableModel(named: model, write)
    let key = try KeyText.key(words[0], for: schema, in: looked)
    var subject = try self.subject(key, of: schema, looked)
    looked.store.close()
    let editor = try TextEditor(
      fileName: Self.fileName(schema, key), on: context.console, in: context.surroundings)
    var original = subject.text.text()
    var shown = original
    while true {
      let edited = try editor.edit(shown)
      guard edited != original, edited.contains(where: { !$0.isWhitespace }) else {
        return try sayUnchanged(context)
      }
      let failure: (error: CommandError, changes: [String: SQLValue]?)
      do {
        let changes = try subject.text.changes(in: edited)
        guard !changes.isEmpty else { return try sayUnchanged(context) }
        do {
          try apply(changes, to: subject.record, context)
          return .ok
        } catch let conflict as EditConflict {
          failure = (CommandError(conflict, of: schema), changes)
          subject = conflict.now
        } catch let error as StoreError
          where !error.violations.isEmpty || error.code == .invalidValue
        {
          failure = (CommandError(error), nil)
        }
      } catch let problem as RecordText.Problem {
        let line = problem.line.map { "Line \($0): " } ?? ""
        failure = (
          CommandError(
            .usage, code: "usage", line + problem.message, model: schema.name), nil
        )
      } catch let error as OutputError {
        // The fields are written; only their report was not.
        throw error
      } catch {
        throw editor.keeping(CommandError(error))
      }
      // Without a person who can answer, or if they changed nothing since the same error.
      let isAnswered = failure.changes != nil || edited != shown
      guard Confirmation.canAsk(context.console), isAnswered else {
        throw editor.keeping(failure.error)
      }
      let remarks = [failure.error.message] + failure.error.details
      if let changes = failure.changes {
        original = subject.text.text()
        shown = Self.text(subject.text.text(changes: changes), under: remarks)
      } else {
        shown = Self.text(edited, under: remarks)
      }
    }
  }

  /// The edited text under the comments of an error, in place of those of the error before.
  private static func text(_ edited: String, under remarks: [String]) -> String {
    let lines = edited.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines.drop { $0.hasPrefix(Self.remark) }
    let comments = remarks.flatMap { $0.split(separator: "\n") }
      .map { "\(Self.remark) \(CellText.visible(String($0)))" }
    return (comments + rest.map(String.init)).joined(separator: "\n")
  }

  /// How the comments of errors begin.
  private static let remark = "# error:"

  private static func fileName(_ schema: ModelSchema, _ key: [SQLValue]) -> String {
    let name = "\(schema.name)-\(KeyText.text(key))".prefix(60)
    return String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }) + ".txt"
  }

  private func sayUnchanged(_ context: CommandContext) throws -> ExitCode {
    try context.console.say("nothing was changed")
    return .ok
  }

  private func subject(
    _ key: [SQLValue], of schema: ModelSchema, _ opened: OpenedStore
  ) throws -> Subject {
    guard let record = try opened.read({ reads in try reads.find(schema, key: key) }) else {
      throw missing(key, of: schema)
    }
    let bindings = try opened.store.bindings().filter { $0.target.model == schema.name }
    return Subject(
      record: record,
      text: RecordText(
        of: record,
        bindings: Dictionary(bindings.map { ($0.target.field, $0.name) }) { first, _ in first }))
  }

  /// The record differs from the one that was edited.
  fileprivate struct EditConflict: Error {
    let before: DynamicRecord
    let now: Subject
  }

  /// Writes the changed fields, if the record is still the one that was edited.
  private func apply(
    _ changes: [String: SQLValue], to record: DynamicRecord, _ context: CommandContext
  ) throws {
    let opened = try context.openForWriting()
    defer { opened.store.close() }
    let schema = try opened.writableModel(named: model, write)
    guard schema == record.schema else {
      throw CommandError(
        .failed, code: "conflict", "The fields of \(schema.name) changed while you edited.",
        model: schema.name)
    }
    var hasChanged = false
    do {
      try context.writing(opened) { transaction in
        let now = try OpenedStore.reading { try transaction.find(schema, key: record.key) }
        guard let now else { throw missing(record.key, of: schema) }
        guard now.values == record.values else {
          hasChanged = true
          throw CommandError(.rejected, code: "conflict", "")
        }
        try transaction.update(schema, key: record.key, set: changes)
        return 1
      }
    } catch let error as CommandError where hasChanged && error.code == "conflict" {
      throw EditConflict(before: record, now: try subject(record.key, of: schema, opened))
    }
  }
}

extension CommandError {
  fileprivate init(_ conflict: UpdateCommand.EditConflict, of schema: ModelSchema) {
    let (before, now) = (conflict.before, conflict.now.record)
    let lines = schema.fields.indices.filter { before.values[$0] != now.values[$0] }.map { index in
      let field = schema.fields[index]
      let shown = [before, now].map {
        CellText.display(
          CellValue(FieldColumns.shown($0.values[index], field)),
          as: FieldColumns.meaning(of: field), scalarCountMax: 60
        ).text
      }
      return "  \(field.name): \(shown[0]) -> \(shown[1])"
    }
    self.init(
      .rejected, code: "conflict",
      "\(schema.name) \(KeyText.text(before.key)) changed while you edited it:", details: lines,
      model: schema.name)
  }
}
