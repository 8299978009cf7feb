import RecordFormats

/// A configuration file of lines `key = "value"`, a small part of TOML: comments, bare and quoted
/// keys, basic and literal strings. Other values are ignored until they are requested, and tables
/// always, so that other programs can keep their settings there.
struct ConfigurationFile {
  /// The longest file that is read, in bytes.
  static let maxByteCount = 64 * 1024
  /// The settings that it may have.
  static let keys = ["db", "migrations", "sharing", "ledger"]

  private let name: String
  private var values: [String: String] = [:]
  /// The lines of keys whose values are not strings.
  private var otherLines: [String: Int] = [:]
  /// The keys outside all tables with their lines, in the order of the file.
  private var keys: [(name: String, line: Int)] = []

  /// Reads the file at `path`; nil when there is none.
  ///
  /// - Throws: ``CommandError`` for a file that another user may have written, and naming the line
  ///   for a string that is not well-formed.
  init?(path: String) throws {
    guard let file = try ConfigurationTrust.trustedFile(at: path) else { return nil }
    let source: ByteSource
    do {
      source = try ByteSource(path: file, refusing: [])
    } catch {
      if case .unreadable(let system) = error.problem, system.isNoSuchFile { return nil }
      throw CommandError(.failed, code: "configuration", "\(path): \(error)")
    }
    var buffer = InputBuffer(source: source, recordByteCountMax: Self.maxByteCount)
    do {
      while !buffer.isAtEnd { try buffer.fill(at: .start) }
    } catch {
      throw CommandError(.failed, code: "configuration", "\(path): \(error)")
    }
    guard let text = buffer.withUnread({ String(validating: $0, as: UTF8.self) }) else {
      throw CommandError(.failed, code: "configuration", "\(path) is not UTF-8.")
    }
    try self.init(text: text, name: path)
  }

  /// Reads `text`; errors call it `name`.
  init(text: String, name: String) throws {
    self.name = name
    var isInTable = false
    for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false) { $0.isNewline }) {
      let words = Self.trimmed(line)
      if words.isEmpty || words.first == "#" { continue }
      if words.first == "[" {
        isInTable = true
        continue
      }
      guard !isInTable, let equals = words.firstIndex(of: "=") else { continue }
      let key = Self.unquoted(Self.trimmed(words[..<equals]))
      keys.append((key, number))
      let written = Self.trimmed(words[words.index(after: equals)...])
      guard let quote = written.first, quote == "\"" || quote == "'" else {
        otherLines[key] = number
        continue
      }
      guard let value = Self.string(written, quote: quote) else {
        throw CommandError(
          .failed, code: "configuration",
          "\(name), line \(number): the value of \(key) is not a string on one line.")
      }
      values[key] = value
    }
  }

  /// The string called `key` outside all tables; nil when there is none.
  ///
  /// - Throws: ``CommandError`` naming the line if its value is not a string.
  func string(named key: String) throws -> String? {
    if let line = otherLines[key] {
      throw CommandError(
        .failed, code: "configuration",
        "\(name), line \(line): the value of \(key) needs quotes, as in \(key) = \"…\".")
    }
    return values[key]
  }

  /// The error for a file with keys that lacks `key`; nil for a file without keys.
  func problem(lacking key: String) -> CommandError? {
    guard let first = keys.first else { return nil }
    // The value is probably what was meant.
    let value = values[first.name].flatMap { DatabaseLocation.isNamedLikeDatabase($0) ? $0 : nil }
    return CommandError(
      .failed, code: "configuration",
      "\(name) was found but has no \(key); line \(first.line) names \(first.name). "
        + "Write \(key) = \"\(value ?? "shop.db")\".")
  }

  /// - Throws: ``CommandError`` naming the line of a key outside all tables that is not one of
  ///   `known`.
  func requireKeys(among known: [String]) throws {
    guard let key = keys.first(where: { !known.contains($0.name) }) else { return }
    let near = NearMiss.suggestions(for: key.name, among: known)
    throw CommandError(
      .failed, code: "configuration",
      "\(name), line \(key.line): there is no setting \(key.name)"
        + (near.isEmpty
          ? "; the settings are \(known.joined(separator: ", "))."
          : CommandError.meant(near)))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let head = text.drop { $0.isWhitespace }
    let end = head.lastIndex { !$0.isWhitespace }
    return end.map { head[...$0] } ?? ""
  }

  private static func unquoted(_ key: Substring) -> String {
    for quote in ["\"", "'"] where key.count >= 2 && key.hasPrefix(quote) && key.hasSuffix(quote) {
      return String(key.dropFirst().dropLast())
    }
    return String(key)
  }

  /// The string that `text` begins with; only a comment may follow it.
  private static func string(_ text: Substring, quote: Character) -> String? {
    var value = ""
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if character == quote {
        let after = trimmed(rest)
        return after.isEmpty || after.first == "#" ? value : nil
      }
      guard character == "\\", quote == "\"" else {
        value.append(character)
        continue
      }
      switch rest.popFirst() {
      case "\"": value.append("\"")
      case "\\": value.append("\\")
      case "n": value.append("\n")
      case "t": value.append("\t")
      default: return nil
      }
    }
    return nil
  }
}
