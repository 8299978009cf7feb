import ArgumentParser
import ModelStore

/// What shells offer for the words of a command line. They run the program for each completion, so
/// every kind reads only what it offers.
enum Completion {
  /// The models of the database.
  static var model: CompletionKind {
    kind { _, opened in opened.store.schema.models.map(\.name) }
  }

  /// The first keys of the model that begin with the word.
  static var key: CompletionKind {
    kind { word, opened in try keys(of: word, opened) }
  }

  /// For `update`: the key, unless `--where` selects the records, then fields to assign.
  static var keyAndAssignments: CompletionKind {
    kind { word, opened in
      let isKey = word.positionals.count == 1 && !word.hasOption("--where")
      return try isKey ? keys(of: word, opened) : assignments(of: word, opened)
    }
  }

  /// Fields to assign, with `=` behind them.
  static var assignment: CompletionKind {
    kind { word, opened in try assignments(of: word, opened) }
  }

  /// A field of the model.
  static var field: CompletionKind {
    kind { word, opened in try model(of: word, opened)?.fields.map(\.name) ?? [] }
  }

  /// The next word of a command's name.
  static var command: CompletionKind {
    .custom { words, index, _ in
      let shell = CompletionShell.requesting
      let word = CompletedWord(words, at: index, splitsAtBreaks: shell == .bash)
      var command: any ParsableCommand.Type = StoreCLI.self
      for name in word.positionals where name != word.text {
        let children = command.configuration.subcommands
        guard let child = children.first(where: { $0.configuration.commandName == name }) else {
          return []
        }
        command = child
      }
      return word.offered(
        command.configuration.subcommands.compactMap { $0.configuration.commandName }, for: shell)
    }
  }

  /// Fields of the model, joined by commas.
  static var fields: CompletionKind {
    kind { word, opened in
      word.lists(of: try model(of: word, opened)?.fields.map(\.name) ?? [])
    }
  }

  /// Fields of the model to sort by; a `-` before the name means descending.
  static var order: CompletionKind {
    kind { word, opened in
      word.lists(of: try model(of: word, opened)?.fields.map(\.name) ?? [], after: "-")
    }
  }

  /// Fields of the model that have a sum, joined by commas.
  static var numbers: CompletionKind {
    kind { word, opened in
      let fields = try model(of: word, opened)?.fields ?? []
      return word.lists(of: fields.filter { Aggregate.accepts(.sum, $0.type) }.map(\.name))
    }
  }

  /// What groups may have in common: fields, and periods of dates after a colon.
  static var groupKeys: CompletionKind {
    kind { word, opened in
      let fields = try model(of: word, opened)?.fields ?? []
      return word.lists(
        of: fields.flatMap { field in
          let periods = DatePeriod.allCases.filter { $0.expression(for: field) != nil }
          return [field.name] + periods.map { "\(field.name):\($0.rawValue)" }
        })
    }
  }

  /// References of the model, and after a point those of the referenced model and its fields.
  static var references: CompletionKind {
    kind { word, opened in
      guard let model = try model(of: word, opened) else { return [] }
      let steps = word.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      let start = steps.dropLast()
      let models = opened.store.schema.models
      guard let end = Expansion.target(of: start, from: model, in: models) else { return [] }
      let fields = start.isEmpty ? end.fields.filter { $0.reference != nil } : end.fields
      return fields.map { (start + [$0.name]).joined(separator: ".") }
    }
  }

  /// The columns of the result, where these are the fields of a model.
  static var columns: CompletionKind {
    kind { word, opened in
      guard ["get", "query", "export", "watch"].contains(word.commandNames.first) else { return [] }
      return word.lists(of: try model(of: word, opened)?.fields.map(\.name) ?? [])
    }
  }

  /// A field with its model: `Track.title`.
  static var modelField: CompletionKind {
    kind { _, opened in
      opened.store.schema.models.flatMap { model in model.fields.map { "\(model.name).\($0.name)" }
      }
    }
  }

  /// A field that follows a binding, with its model.
  static var boundField: CompletionKind {
    kind { _, opened in try opened.store.bindings().map { "\($0.target)" } }
  }

  static var binding: CompletionKind {
    kind { _, opened in try opened.store.bindings().map(\.name) }
  }

  static var rule: CompletionKind {
    kind { _, opened in try opened.store.rules().map(\.name) }
  }

  static var consumer: CompletionKind {
    kind { _, opened in try opened.store.consumers().map(\.name) }
  }

  /// The versions of the migrations of the application or the project.
  static var migration: CompletionKind {
    .custom { words, index, _ in
      let shell = CompletionShell.requesting
      let word = CompletedWord(words, at: index, splitsAtBreaks: shell == .bash)
      let declared = (Program.application.declarations.migrations ?? []).map(\.version)
      return word.offered(
        (declared.isEmpty ? word.migrationVersions : declared).map(String.init), for: shell)
    }
  }

  /// The store of the session that completes; nil where the script of a shell asks.
  @TaskLocal private static var kept:
    (store: Store, location: DatabaseLocation, inputs: InputFiles)?

  /// The answer to what the script of a shell would ask, from an open store.
  ///
  /// - Parameter request: The words that a script passes to the program.
  static func answer(_ request: [String], in opened: OpenedStore) -> [String] {
    $kept.withValue((opened.store, opened.location, opened.inputs)) {
      do {
        _ = try StoreCLI.parseAsRoot(request)
        return []
      } catch {
        // The parser throws its answer.
        return StoreCLI.fullMessage(for: error).split(separator: "\n").map(String.init)
      }
    }
  }

  private static func found(
    for word: CompletedWord,
    in kept: (store: Store, location: DatabaseLocation, inputs: InputFiles),
    _ find: (CompletedWord, OpenedStore) throws -> [String]
  ) -> [String] {
    do {
      return try find(
        word,
        OpenedStore(store: kept.store, location: kept.location, inputs: kept.inputs))
    } catch {
      // As in ``Program/found(in:application:in:_:)``.
      return []
    }
  }

  /// - Parameter find: Returns what may stand for the word; the others are left out.
  private static func kind(
    _ find: @escaping @Sendable (CompletedWord, OpenedStore) throws -> [String]
  ) -> CompletionKind {
    .custom { words, index, _ in
      if let kept {
        let word = CompletedWord(words, at: index, splitsAtBreaks: false)
        return word.offered(found(for: word, in: kept, find), for: nil)
      }
      let shell = CompletionShell.requesting
      let word = CompletedWord(words, at: index, splitsAtBreaks: shell == .bash)
      let found = Program.found(in: word.others, application: Program.application, in: .process) {
        try find(word, $0)
      }
      return word.offered(found, for: shell)
    }
  }

  /// The model that the words name; nil if there is none of that name.
  private static func model(of word: CompletedWord, _ opened: OpenedStore) throws -> ModelSchema? {
    guard let name = word.positionals.first, opened.store.schema.contains(name) else { return nil }
    return try opened.store.schema.model(named: name)
  }

  private static func keys(of word: CompletedWord, _ opened: OpenedStore) throws -> [String] {
    guard let model = try keyedModel(of: word, opened) else { return [] }
    let keys = KeyCandidates(of: model)
    let found = try opened.read { reads in try keys.beginning(with: word.text, reads) }
    // A word that begins with a hyphen would be an option.
    return found.filter { word.followsTerminator || !$0.hasPrefix("-") }
  }

  /// The model whose key stands here: the first word, or in `bindings why` that of a field.
  private static func keyedModel(
    of word: CompletedWord, _ opened: OpenedStore
  ) throws -> ModelSchema? {
    guard word.commandNames.first == "bindings", let field = word.positionals.first else {
      return try model(of: word, opened)
    }
    return opened.store.schema.models.filter { field.hasPrefix($0.name + ".") }
      .max { $0.name.count < $1.name.count }
  }

  private static func assignments(
    of word: CompletedWord, _ opened: OpenedStore
  ) throws -> [String] {
    guard !word.text.contains("=") else { return [] }
    let isAssigned = { (name: String) in
      word.positionals.contains { given in
        ["=", ":", "+="].contains { given.hasPrefix(name + $0) }
      }
    }
    return try model(of: word, opened)?.fields
      .filter { $0.generated == nil && !isAssigned($0.name) }.map { $0.name + "=" } ?? []
  }
}

extension CompletedWord {
  /// The versions in the directory of migrations; none if it cannot be found.
  fileprivate var migrationVersions: [Int64] {
    let option = zip(others, others.dropFirst()).first { $0.0 == "--migrations" }?.1
    do {
      let directory = try MigrationDirectory(option: option)
      return Directory(path: directory.path).readableNames.compactMap {
        MigrationFile.parts(of: $0)?.version
      }
    } catch {
      // A completion has no place for a message.
      return []
    }
  }
}
