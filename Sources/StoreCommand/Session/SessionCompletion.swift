import ArgumentParser
import ModelStore
import RecordFormats

/// What Tab offers in a session: commands, options, models, fields, keys and names, as the
/// completion scripts of shells offer them, and SQL.
struct SessionCompletion {
  private let kept: KeptStore

  init(_ kept: KeptStore) { self.kept = kept }

  /// What may stand for the word at the end of `text`, the input before the cursor.
  func candidates(before text: String) -> CompletedInput {
    do {
      if ShellLine.isSQL(text) { return try sql(text) }
      return try command(text)
    } catch {
      // A completion is a convenience: without a readable store there is none.
      return CompletedInput()
    }
  }

  // Commands

  private func command(_ text: String) throws -> CompletedInput {
    let parsed = ShellWords(text)
    var words = parsed.lastCommand.map(\.text)
    if parsed.open == "'" || parsed.open == "\"" { return try predicate(text, words) }
    let word = parsed.endsInWord ? words.removeLast() : ""
    if words.first == Program.name { words.removeFirst() }
    let found = try self.found(for: word, behind: words)
    let raw = parsed.endsInWord ? String(text[parsed.lastWordStart...]) : ""
    return CompletedInput(
      word: raw,
      candidates: found.filter { $0.hasPrefix(word) }
        .map { $0.hasSuffix("=") ? $0 : Shell.quoted($0) })
  }

  private func found(for word: String, behind words: [String]) throws -> [String] {
    guard let first = words.first else { return Self.names(below: []) + Self.ownWords }
    if first == "help" {
      return Self.names(below: Array(words.dropFirst())) + HelpTopic.allCases.map(\.rawValue)
    }
    guard let (leaf, rest) = UnparsedArguments(words).leaf else {
      return Self.names(below: words)
    }
    let path = words.dropLast(rest.count)
    let syntax = try CommandSyntax(of: leaf)
    if let last = rest.last, let option = syntax.option(last), !option.isFlag {
      return try values(of: option, named: last, in: path, words, word)
    }
    if word.hasPrefix("-"), !rest.contains("--") {
      return syntax.options.flatMap(\.names).filter { $0.hasPrefix("--") }
    }
    guard let (index, place) = syntax.positional(behind: syntax.positionalCount(in: rest)) else {
      return first == "watch" ? ["on", "off"] : []
    }
    let own = first == "watch" && rest.isEmpty ? ["on", "off"] : []
    return try values(of: place, named: "positional@\(index)", in: path, words, word) + own
  }

  /// The values of an option or a positional word.
  private func values(
    of place: CommandSyntax.Place, named name: String, in path: some Sequence<String>,
    _ words: [String], _ word: String
  ) throws -> [String] {
    guard place.isCompleted else { return place.values }
    let opened = try kept.store(writing: false)
    let request =
      ["---completion"] + path + ["--", name, "\(words.count + 1)", "\(word.count)"]
      + [Program.name] + words + [word]
    return Completion.answer(request, in: opened)
  }

  /// A predicate in quotes: the fields of the model, and the words of predicates.
  private func predicate(_ text: String, _ words: [String]) throws -> CompletedInput {
    let word = Self.lastName(in: text)
    let opened = try kept.store(writing: false)
    let positional = words.dropFirst().first { !$0.hasPrefix("-") }
    let fields = opened.store.schema.models.first { $0.name == positional }?.fields.map(\.name)
    let others = ["and", "or", "not", "null", "is", "in", "like", "between", "true", "false"]
    let found = (fields ?? []) + (word.isEmpty ? [] : others)
    return CompletedInput(word: word, candidates: found.filter { $0.hasPrefix(word) })
  }

  private static let ownWords = ["begin", "commit", "rollback", "exit", "help"]

  /// The names of the commands below a group; of all commands for no group.
  private static func names(below path: [String]) -> [String] {
    var command: any ParsableCommand.Type = StoreCLI.self
    for name in path {
      let children = command.configuration.subcommands
      guard let child = children.first(where: { $0.configuration.commandName == name }) else {
        return []
      }
      command = child
    }
    return command.configuration.subcommands.compactMap { $0.configuration.commandName }
      .filter { $0 != "shell" || !path.isEmpty }
  }

  // SQL

  private func sql(_ text: String) throws -> CompletedInput {
    let word = Self.lastName(in: text)
    let models = try kept.store(writing: false).store.schema.models
    let before = text.dropLast(word.count)
    if before.last == "." {
      let table = Self.lastName(in: String(before.dropLast()))
      let model = models.first { $0.table.lowercased() == table.lowercased() }
      return CompletedInput(
        word: word, candidates: (model?.fields.map(\.column) ?? []).filter { $0.hasPrefix(word) })
    }
    guard !word.isEmpty else { return CompletedInput() }
    let isLower = word == word.lowercased() && word.contains { $0.isLetter }
    let keywords = Self.keywords.map { isLower ? $0.lowercased() : $0 }
    let tables = models.map(\.table)
    let mentioned = models.filter { text.contains($0.table) }
    let columns = Set((mentioned.isEmpty ? models : mentioned).flatMap { $0.fields.map(\.column) })
    let found = (tables + columns.sorted() + keywords).filter { $0.hasPrefix(word) }
    var seen: Set<String> = []
    return CompletedInput(word: word, candidates: found.filter { seen.insert($0).inserted })
  }

  private static func lastName(in text: String) -> String {
    String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
  }

  private static let keywords = [
    "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CROSS", "DEFAULT", "DELETE",
    "DESC", "DISTINCT", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS", "EXPLAIN", "FROM", "GLOB",
    "GROUP", "HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTO", "IS", "JOIN", "LEFT", "LIKE",
    "LIMIT", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OVER", "PARTITION", "PLAN", "PRAGMA",
    "QUERY", "RECURSIVE", "REPLACE", "RETURNING", "SELECT", "SET", "THEN", "UNION", "UPDATE",
    "USING", "VALUES", "WHEN", "WHERE", "WITH",
  ]
}
