/// An object that a file's schema names and this program's SQLite lacks. The program that created
/// the file registers it on its own connections.
enum MissingObject: Hashable, Sendable {
  case collation(String)
  case function(String)
  case module(String)
  case tokenizer(String)

  /// Reads the name from SQLite's message; nil for another kind of failure.
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

  /// The kind and the name of the object, for example "the collation unicase".
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
  /// Whether this is SQLite's error for a table WITHOUT ROWID whose key has an unknown collation.
  /// SQLite has no other access to its rows, and does not name the collation.
  var isWithoutSolution: Bool { code.primary == .error && message == "no query solution" }

  /// Whether a table needs an object that is not registered here.
  var isAboutMissingObject: Bool { MissingObject(self) != nil || isWithoutSolution }
}
