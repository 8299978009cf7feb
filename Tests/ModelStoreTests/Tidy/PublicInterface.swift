/// What a program can name of the library: its public declarations, read from the sources.
///
/// The compiler's symbol graph lists the same, and also the members that the compiler derives, such
/// as the `init(rawValue:)` of an enumeration. Names that begin with `_` count in neither.
struct PublicInterface {
  /// Structures, classes, enumerations and protocols, nested ones too, such as `Gate.Verdict`.
  private(set) var types: [String] = []
  /// Functions, initializers, properties, subscripts, operators and requirements of protocols.
  private(set) var members: [String] = []
  /// Cases of enumerations, which are values of their type and not things to learn one by one.
  private(set) var cases: [String] = []

  init(of files: [SourceText]) {
    let all = files.flatMap { file in
      var reader = Reader(tokens: file.tokens)
      return reader.declarations()
    }
    let declared = Dictionary(
      all.filter { $0.kind == .type }.map { ($0.path, $0.isPublic) }, uniquingKeysWith: { $1 })
    for declaration in all where Self.canBeNamed(declaration, declared) {
      switch declaration.kind {
      case .type: types.append(declaration.path)
      case .member: members.append(declaration.path)
      case .enumCase: cases.append(declaration.path)
      }
    }
  }

  var summary: String {
    "\(types.count) public types, \(members.count) members and \(cases.count) cases"
  }

  private static func canBeNamed(_ declaration: Declaration, _ types: [String: Bool]) -> Bool {
    guard declaration.isPublic, !declaration.name.hasPrefix("_") else { return false }
    // A type that is declared elsewhere, such as `String`, can be named.
    var owner = declaration.owner
    while !owner.isEmpty {
      guard types[owner] != false, !owner[...].lastPart.hasPrefix("_") else { return false }
      owner = owner[...].withoutLastPart
    }
    return true
  }
}

extension PublicInterface {
  fileprivate struct Declaration {
    enum Kind { case type, member, enumCase }

    let kind: Kind
    /// The path of the type around it; empty at the top.
    let owner: String
    let name: String
    /// As written, or as the protocol or enumeration around it has it.
    let isPublic: Bool

    var path: String { owner.isEmpty ? name : "\(owner).\(name)" }
  }

  /// The body of a type or extension.
  private struct Scope {
    let path: String
    let keyword: String
    /// How many braces are open in it.
    let depth: Int
  }

  /// Reads declarations at the top of a file and in bodies of types; passes over other bodies.
  private struct Reader {
    let tokens: [SourceText.Token]
    var scopes: [Scope] = []
    /// The scope whose body has not begun.
    var next: Scope?
    var index = 0
    var found: [Declaration] = []

    init(tokens: [SourceText.Token]) { self.tokens = tokens }

    var path: String { scopes.last?.path ?? "" }
    var depth: Int { scopes.last?.depth ?? 0 }

    func text(_ offset: Int = 0) -> String {
      tokens.indices.contains(index + offset) ? tokens[index + offset].text : ""
    }

    mutating func declarations() -> [Declaration] {
      while index < tokens.count {
        while let last = scopes.last, tokens[index].depth < last.depth { scopes.removeLast() }
        if text() == "{", let scope = next, tokens[index].depth == scope.depth - 1 {
          scopes.append(scope)
          next = nil
        } else if tokens[index].depth == depth, text(-1) != "." {
          readDeclaration()
        }
        index += 1
      }
      return found
    }

    mutating func readDeclaration() {
      switch text() {
      case "extension": enter(extensionPath(), "extension")
      case "struct", "class", "enum", "protocol", "actor":
        guard isName(text(1)), !["func", "var", "let"].contains(text(1)) else { return }
        let name = text(1)
        add(.type, name)
        enter(path.isEmpty ? name : "\(path).\(name)", text())
      case "var",
        "let" where next == nil:
        add(.member, text(1))
      case "func", "init", "subscript":
        guard next == nil else { return }
        add(.member, text() == "func" ? functionName() : text())
      case "case" where scopes.last?.keyword == "enum": readCases()
      default: break
      }
    }

    mutating func enter(_ path: String, _ keyword: String) {
      next = Scope(path: path, keyword: keyword, depth: depth + 1)
    }

    mutating func add(_ kind: Declaration.Kind, _ name: String) {
      let isImplied = kind == .enumCase || scopes.last?.keyword == "protocol" && kind == .member
      found.append(
        Declaration(kind: kind, owner: path, name: name, isPublic: isImplied || isMarkedPublic))
    }

    /// Whether `public` is among the modifiers before the current keyword.
    var isMarkedPublic: Bool {
      var place = index - 1
      while place >= 0, Self.modifiers.contains(tokens[place].text) {
        if tokens[place].text == "public", tokens[place + 1].text != "(" { return true }
        place -= 1
      }
      return false
    }

    private static let modifiers: Set = [
      "public", "package", "internal", "private", "fileprivate", "static", "final", "class",
      "borrowing", "consuming", "mutating", "nonisolated", "prefix", "postfix", "infix",
      "indirect", "override", "convenience", "required", "lazy", "weak", "unowned", "(", "set", ")",
    ]

    func isName(_ text: String) -> Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }

    /// `A.B` of `extension A.B: C`; the bracket of `extension [A]`.
    func extensionPath() -> String {
      var path = text(1)
      var offset = 2
      while text(offset) == ".", isName(text(offset + 1)) {
        path += "." + text(offset + 1)
        offset += 2
      }
      return path
    }

    /// An operator has several marks.
    func functionName() -> String {
      isName(text(1))
        ? text(1)
        : tokens[(index + 1)...].prefix { $0.text != "(" }.map(\.text).joined()
    }

    /// `case a(Int), b = 2`: one declaration for each name.
    mutating func readCases() {
      repeat {
        index += 1
        add(.enumCase, text())
        if text(1) == "(" {
          index += 1
          var open = 0
          repeat {
            open += text() == "(" ? 1 : text() == ")" ? -1 : 0
            index += 1
          } while open > 0 && index < tokens.count
          index -= 1
        }
        if text(1) == "=" {
          index += 1
          // The text of a string is not a token.
          while text(1) == "-" || text(1).first?.isNumber == true { index += 1 }
        }
        if text(1) == "," { index += 1 } else { break }
      } while index < tokens.count
    }
  }
}

extension Substring {
  /// `C` of `A.B.C`.
  fileprivate var lastPart: Substring { split(separator: ".").last ?? self }

  /// `A.B` of `A.B.C`; empty for `A`.
  fileprivate var withoutLastPart: String {
    lastIndex(of: ".").map { String(self[..<$0]) } ?? ""
  }
}
