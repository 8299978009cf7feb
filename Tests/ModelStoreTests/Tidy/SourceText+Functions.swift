extension SourceText {
  /// A function, an initializer, a subscript or a computed property, measured.
  struct Function {
    /// Without backticks; `init`, `subscript` and `deinit` for what has no name of its own.
    let name: String
    /// The place of its keyword.
    let line: Int
    /// From the keyword to the closing brace; 0 without a body.
    let lineCount: Int
    /// Parameters without a default value.
    let parameterCount: Int
    /// How many braces are open at once within the body.
    let depth: Int
    /// Whether it is an initializer that only assigns parameters to properties of the same names.
    let isMemberwise: Bool
  }

  /// All functions of the file, local ones too.
  var functions: [Function] {
    tokens.indices.compactMap { index in
      guard index == 0 || tokens[index - 1].text != "." else { return nil }
      return switch tokens[index].text {
      case "func", "init", "subscript": function(at: index)
      case "deinit": measured(at: index, name: "deinit", signatureEnd: index + 1)
      case "var": computedProperty(at: index)
      default: nil
      }
    }
  }

  private func function(at start: Int) -> Function? {
    let isNamed = tokens[start].text == "func"
    guard let open = parameterList(after: isNamed ? start + 1 : start),
      let close = end(of: open)
    else { return nil }
    let name = isNamed ? operatorOrName(at: start + 1, before: open) : tokens[start].text
    return measured(
      at: start, name: name, signatureEnd: close + 1,
      parameterCount: parametersWithoutDefault(between: open, and: close))
  }

  /// - Returns: Nil for a stored property.
  private func computedProperty(at start: Int) -> Function? {
    guard start + 2 < tokens.count, tokens[start + 2].text == ":" else { return nil }
    var index = start + 3
    while index < tokens.count, tokens[index].text != "{" {
      // A type continues on another line only after punctuation.
      let isNewStatement =
        tokens[index].line > tokens[index - 1].line && Self.isWord(tokens[index].text)
        && (Self.isWord(tokens[index - 1].text) || "])>?".contains(tokens[index - 1].text))
      guard !isNewStatement, !["=", "}", "@", "#"].contains(tokens[index].text) else { return nil }
      if "([".contains(tokens[index].text), let close = end(of: index) { index = close }
      index += 1
    }
    return measured(at: start, name: tokens[start + 1].text, signatureEnd: index)
  }

  private func measured(
    at start: Int, name: String, signatureEnd: Int, parameterCount: Int = 0
  ) -> Function {
    let body = body(after: signatureEnd)
    let inner = body.map { tokens[$0.lowerBound + 1..<$0.upperBound] } ?? []
    // A brace is counted before it opens, so the innermost one is one level higher.
    let deepest = inner.lazy.filter { $0.text == "{" }.map(\.depth).max()
    return Function(
      name: name, line: tokens[start].line,
      lineCount: body.map { tokens[$0.upperBound].line - tokens[start].line + 1 } ?? 0,
      parameterCount: parameterCount,
      depth: body.flatMap { body in deepest.map { $0 - tokens[body.lowerBound].depth } } ?? 0,
      isMemberwise: tokens[start].text == "init" && Self.onlyAssigns(inner))
  }

  /// `self.a = a` any number of times.
  private static func onlyAssigns(_ body: ArraySlice<Token>) -> Bool {
    let words = body.map(\.text)
    guard words.count % 5 == 0 else { return false }
    return stride(from: 0, to: words.count, by: 5).allSatisfy { start in
      let property = words[start + 2]
      return Array(words[start..<start + 5]) == ["self", ".", property, "=", property]
    }
  }

  /// Where the parentheses open, after a name and what is generic in it.
  private func parameterList(after name: Int) -> Int? {
    guard let isWord = tokens.indices.contains(name) ? Self.isWord(tokens[name].text) : nil
    else { return nil }
    var angles = 0
    for index in tokens.indices[name...] {
      switch tokens[index].text {
      case "<" where isWord: angles += 1
      case ">" where isWord && !isArrow(at: index): angles -= 1
      case "(" where angles == 0: return index
      case "{", "}": return nil
      default: break
      }
    }
    return nil
  }

  private func operatorOrName(at start: Int, before end: Int) -> String {
    guard !Self.isWord(tokens[start].text) else { return tokens[start].text }
    return tokens[start..<end].map(\.text).joined()
  }

  private func parametersWithoutDefault(between open: Int, and close: Int) -> Int {
    guard open + 1 < close else { return 0 }
    var (count, angles) = (0, 0)
    var (isEmpty, hasDefault) = (true, false)
    var index = open + 1
    while index < close {
      switch tokens[index].text {
      case "(", "[", "{": index = end(of: index) ?? index
      case "<": angles += 1
      case ">" where !isArrow(at: index): angles -= 1
      case "=" where angles == 0: hasDefault = true
      case "," where angles == 0:
        if !hasDefault { count += 1 }
        (isEmpty, hasDefault) = (true, false)
        index += 1
        continue
      default: break
      }
      isEmpty = false
      index += 1
    }
    return count + (isEmpty || hasDefault ? 0 : 1)
  }

  /// From its opening to its closing brace.
  private func body(after signatureEnd: Int) -> ClosedRange<Int>? {
    var index = signatureEnd
    while index < tokens.count, !Self.declarationStarts.contains(tokens[index].text) {
      if tokens[index].text == "{" { return end(of: index).map { index...$0 } }
      if "([".contains(tokens[index].text), let close = end(of: index) { index = close }
      index += 1
    }
    return nil
  }

  /// Where what opens at `open` is closed.
  private func end(of open: Int) -> Int? {
    var nesting = 0
    for index in tokens.indices[open...] {
      if "([{".contains(tokens[index].text) { nesting += 1 }
      if ")]}".contains(tokens[index].text) { nesting -= 1 }
      if nesting == 0 { return index }
    }
    return nil
  }

  private func isArrow(at index: Int) -> Bool {
    index > 0 && tokens[index - 1].text == "-" && tokens[index - 1].touches(tokens[index])
  }

  private static func isWord(_ text: String) -> Bool {
    text.first.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
  }

  /// Tokens that cannot come between a signature and its body.
  private static let declarationStarts: Set = [
    "}", "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "class", "enum",
    "extension", "typealias", "associatedtype", "static", "public", "package", "private",
    "fileprivate", "mutating",
  ]
}
