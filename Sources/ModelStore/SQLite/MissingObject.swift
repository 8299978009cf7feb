/// Something that a file's schema names and this program's SQLite does not have: the program that
/// made the file registers it on its own connections.
enum MissingObject: Hashable, Sendable {
  case collation(String)
  case function(String)
  case module(String)
  case tokenizer(String)

  /// Reads the name from SQLite's message; nil for a failure of another kind.
  init?(_ error: SQLiteError) {
    guard error.code.primary == .error else { return nil }
    for (start, kind) in Self.messages {
      guard error.message.hasPrefix(start) else { continue }
      var name = error.message.dropFirst(start.count)
      if name.hasSuffix("()") { name = name.dropLast(2) }
      self = kind(String(name))
      return
    }
    return nil
  }

  private static let messages: [(start: String, kind: @Sendable (String) -> MissingObject)] = [
    ("no such collation sequence: ", { .collation($0) }),
    ("no such function: ", { .function($0) }), ("unknown function: ", { .function($0) }),
    ("no such module: ", { .module($0) }), ("no such tokenizer: ", { .tokenizer($0) }),
  ]

  /// What is missing, by kind and name: "the collation unicase".
  var phrase: String {
    switch self {
    case .collation(let name): "the collation \(name)"
    case .function(let name): "the function \(name)"
    case .module(let name): "the virtual-table module \(name)"
    case .tokenizer(let name): "the full-text tokenizer \(name)"
    }
  }
}

extension SQLiteError {
  /// What SQLite says of a table WITHOUT ROWID whose key is ordered by an unknown collation: it has
  /// no other way to its rows, and does not name the collation.
  var isWithoutSolution: Bool { code.primary == .error && message == "no query solution" }

  /// Whether a table needs something that is not registered here.
  var isAboutMissingObject: Bool { MissingObject(self) != nil || isWithoutSolution }
}
