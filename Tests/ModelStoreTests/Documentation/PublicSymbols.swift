/// The names under which other modules reach what a few files declare: `Store`, `Store/close()`,
/// `StoreError/Code/busy`. It reads words, not grammar, and knows no inherited members.
struct PublicSymbols {
  private(set) var paths: Set<String> = []

  init(_ files: [SourceText]) {
    for file in files {
      var reader = Reader(tokens: file.tokens)
      paths.formUnion(reader.read())
    }
  }

  /// Whether `link` names one of the symbols; `ModelStore` is the module itself.
  func contains(_ link: String) -> Bool { link == "ModelStore" || paths.contains(link) }
}

extension PublicSymbols {
  private struct Reader {
    /// The body of a type or extension that is being read.
    struct Scope {
      let path: String
      /// Where its brace opens.
      let open: Int
      let depth: Int
      /// Whether its members are public without saying so.
      let isOpen: Bool
      let isEnum: Bool
    }

    let tokens: [SourceText.Token]
    var scopes: [Scope] = []
    var paths: Set<String> = []

    init(tokens: [SourceText.Token]) {
      self.tokens = tokens
    }

    static let types: Set = ["struct", "class", "enum", "protocol", "actor"]

    mutating func read() -> Set<String> {
      for index in tokens.indices {
        let token = tokens[index]
        while let scope = scopes.last, index > scope.open, token.depth < scope.depth {
          scopes.removeLast()
        }
        guard index == 0 || tokens[index - 1].text != "." else { continue }
        if Self.types.contains(token.text) || token.text == "extension" {
          readType(at: index)
        } else if let scope = scopes.last, token.depth == scope.depth {
          readMember(at: index, in: scope)
        }
      }
      return paths
    }

    private func word(_ index: Int) -> String { index < tokens.count ? tokens[index].text : "" }

    private mutating func readType(at index: Int) {
      guard word(index + 1).first?.isUppercase == true,
        let open = tokens[index...].firstIndex(where: { $0.text == "{" })
      else { return }
      var name = word(index + 1)
      var next = index + 2
      while word(next) == "." {
        name += "/" + word(next + 1)
        next += 2
      }
      let path = scopes.last.map { $0.path + "/" + name } ?? name
      let isPublic = isPublic(at: index)
      if isPublic { paths.insert(path) }
      scopes.append(
        Scope(
          path: path, open: open, depth: tokens[open].depth + 1,
          isOpen: word(index) == "protocol" && isPublic,
          isEnum: word(index) == "enum" && isPublic))
    }

    private mutating func readMember(at index: Int, in scope: Scope) {
      switch word(index) {
      case "var", "let":
        guard scope.isOpen || isPublic(at: index) else { return }
        paths.insert(scope.path + "/" + word(index + 1))
      case "func", "init", "subscript":
        guard scope.isOpen || isPublic(at: index) else { return }
        let hasName = word(index) == "func"
        let name = hasName ? word(index + 1) : word(index)
        paths.insert(scope.path + "/" + name + labels(after: index + (hasName ? 2 : 1)))
      case "case" where scope.isEnum:
        readCases(at: index, in: scope)
      default: break
      }
    }

    /// `case a, b(Int)`, without the values that cases may be given.
    private mutating func readCases(at index: Int, in scope: Scope) {
      var next = index + 1
      while true {
        let name = word(next)
        next += 1
        let hasValues = word(next) == "("
        paths.insert(scope.path + "/" + name + (hasValues ? labels(after: next) : ""))
        if hasValues { next = closing(of: next) + 1 }
        guard word(next) == "," else { return }
        next += 1
      }
    }

    /// Whether `public` is among the words before a declaration's keyword.
    private func isPublic(at index: Int) -> Bool {
      let modifiers: Set = [
        "static", "final", "borrowing", "consuming", "mutating", "nonisolated", "indirect",
        "convenience", "prefix", "private", "internal", "(", "set", ")",
      ]
      var place = index - 1
      while place >= 0, modifiers.contains(word(place)) { place -= 1 }
      return place >= 0 && word(place) == "public"
    }

    private func closing(of open: Int) -> Int {
      var depth = 0
      for index in open..<tokens.count {
        if word(index) == "(" { depth += 1 }
        if word(index) == ")" { depth -= 1 }
        if depth == 0 { return index }
      }
      return tokens.count
    }

    /// `(_:named:)` for the parameters that follow, generic ones in angles skipped.
    private func labels(after start: Int) -> String {
      var open = start
      while open < tokens.count, word(open) != "(" { open += 1 }
      let close = closing(of: open)
      var labels = "("
      var depth = 0
      var isStart = true
      var index = open
      while index < close {
        let text = word(index)
        if isStart, index > open {
          if text == "@" {
            index += 2
            if word(index) == "<" {
              while index < close, word(index) != ">" { index += 1 }
              index += 1
            }
            continue
          }
          let isLabelled = word(index + 1) == ":" || word(index + 2) == ":"
          labels += (isLabelled ? text : "_") + ":"
          isStart = false
        }
        if ["(", "[", "{", "<"].contains(text) { depth += 1 }
        if [")", "]", "}"].contains(text) || (text == ">" && word(index - 1) != "-") { depth -= 1 }
        if depth == 1, text == "," { isStart = true }
        index += 1
      }
      return labels + ")"
    }
  }
}
