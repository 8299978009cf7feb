import Foundation

/// Rules about comments and documentation in Swift files.
extension Project {
  static let noLeftovers: Rule = { project in
    // Spelled in halves so that this file is not its own finding.
    let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    return project.swift.flatMap { file in
      file.comments.flatMap { comment in
        words.filter { word in comment.text.split { !$0.isLetter }.contains { $0 == word } }.map {
          Finding(path: file.path, line: comment.line, message: "unfinished work: \($0)")
        }
      }
    }
  }

  static let noFog: Rule = { project in
    let phrases = [
      "this function", "this method", "this class", "this struct", "note that", "please note",
      "as requested", "now handles", "helper function", "basically", "obviously",
    ]
    return project.swift.flatMap { file in
      file.comments.flatMap { comment in
        let text = comment.text.lowercased()
        let bare = text.filter { $0 != " " }
        let banners = bare.hasPrefix("mark:") || bare.count > 3 && Set(bare).isSubset(of: "=-*#")
        return phrases.filter { contains($0, in: text) }.map {
          Finding(path: file.path, line: comment.line, message: "fog: \($0)")
        } + (banners ? [Finding(path: file.path, line: comment.line, message: "a banner")] : [])
      }
    }
  }

  /// Whether `phrase` occurs in `text` without letters on either side.
  private static func contains(_ phrase: String, in text: String) -> Bool {
    guard text.withCString({ strstr($0, phrase) }) != nil else { return false }
    return text.ranges(of: phrase).contains { range in
      let before =
        range.lowerBound == text.startIndex ? " " : text[text.index(before: range.lowerBound)]
      let after = range.upperBound == text.endIndex ? " " : text[range.upperBound]
      return !before.isLetter && !after.isLetter
    }
  }

  static let noBlockComments: Rule = { project in
    project.swift.flatMap { file in
      file.comments.filter { $0.text.hasPrefix("/*") || $0.text.hasPrefix("*") }.map {
        Finding(path: file.path, line: $0.line, message: "a block comment")
      }
    }
  }

  /// A parameter that the documentation speaks of, and the declaration does not have.
  static let documentedParametersExist: Rule = { project in
    project.swift(under: "Sources").flatMap { file in
      var findings: [Finding] = []
      for (index, comment) in file.comments.enumerated() where comment.isDocumentation {
        let next = index + 1 < file.comments.count ? file.comments[index + 1].line : 0
        guard next != comment.line + 1 else { continue }
        let block = documentation(endingAt: index, in: file)
        let words = declaration(after: comment.line, in: file)
        for (name, line) in documentedParameters(block) where !words.contains(name) {
          findings.append(
            Finding(path: file.path, line: line, message: "there is no parameter \(name)"))
        }
      }
      return findings
    }
  }

  private static func documentation(
    endingAt index: Int, in file: SourceText
  ) -> [SourceText.Comment] {
    var start = index
    while start > 0, file.comments[start - 1].isDocumentation,
      file.comments[start - 1].line == file.comments[start].line - 1
    {
      start -= 1
    }
    return Array(file.comments[start...index])
  }

  private static func documentedParameters(
    _ block: [SourceText.Comment]
  ) -> [(name: String, line: Int)] {
    var names: [(String, Int)] = []
    var isList = false
    for comment in block {
      let text = comment.text
      if text.hasPrefix(" - Parameter ") {
        names.append((String(text.dropFirst(13).prefix { $0 != ":" }), comment.line))
      }
      if text.hasPrefix(" - ") { isList = text.hasPrefix(" - Parameters:") }
      if isList, text.hasPrefix("   - ") {
        names.append((String(text.dropFirst(5).prefix { $0 != ":" }), comment.line))
      }
    }
    return names
  }

  /// The words of the declaration below a comment, up to its body.
  private static func declaration(after line: Int, in file: SourceText) -> Set<String> {
    var words: Set<String> = []
    for token in file.tokens where token.line > line {
      if token.text == "{" && words.contains("func") { break }
      if token.text == "{" && (words.contains("init") || words.contains("subscript")) { break }
      if token.line > line + 30 { break }
      words.insert(token.text)
    }
    return words
  }

  /// Public declarations without documentation. Requirements of a protocol are documented there.
  static let publicIsDocumented: Rule = { project in
    let sources = project.swift(under: "Sources")
    let requirements = standardRequirements.union(sources.flatMap(Self.requirements))
    return sources.flatMap { file in
      file.tokens.indices.compactMap { index -> Finding? in
        let token = file.tokens[index]
        guard token.text == "public", let name = declaredName(at: index, in: file),
          !requirements.contains(name), !isDocumented(token.line, in: file)
        else { return nil }
        return Finding(path: file.path, line: token.line, message: "\(name) has no documentation")
      }
    }
  }

  private static let standardRequirements: Set<String> = [
    "==", "<", "hash", "description", "debugDescription", "errorDescription", "next",
    "makeAsyncIterator", "makeIterator", "Element", "Failure", "Iterator", "AsyncIterator",
    "allCases", "rawValue", "init(rawValue", "init(stringLiteral", "init(stringInterpolation",
    "init(from", "encode", "startIndex", "endIndex", "index", "count", "StringInterpolation",
    "init(literalCapacity", "appendLiteral", "init(arrayLiteral", "init(nilLiteral",
    "init(integerLiteral", "init(floatLiteral", "init(booleanLiteral", "id",
    "buildExpression", "buildBlock", "buildOptional", "buildEither", "run", "configuration",
  ]

  private static let modifiers: Set<String> = [
    "public", "static", "final", "private", "set", "(", ")", "borrowing", "consuming", "mutating",
    "nonisolated", "prefix", "postfix", "infix", "indirect", "override", "convenience", "package",
    "internal",
  ]

  /// `title` for a property, `insert` for a function, `init(row` for an initializer, a type's name;
  /// nil for an import or extension.
  private static func declaredName(at index: Int, in file: SourceText) -> String? {
    guard let keyword = file.tokens[index...].firstIndex(where: { !modifiers.contains($0.text) })
    else { return nil }
    let words = file.tokens[keyword...].prefix(4).map(\.text)
    guard words.count > 1 else { return nil }
    switch words[0] {
    case "import", "extension": return nil
    case "init": return words[1] == "(" && words.count > 2 ? "init(" + words[2] : "init"
    case "subscript": return "subscript"
    case "func" where !(words[1].first?.isLetter ?? false) && words[1] != "_":
      // An operator: all marks up to its parameters.
      return file.tokens[(keyword + 1)...].prefix { $0.text != "(" }.map(\.text).joined()
    default: return words[1]
    }
  }

  /// What the protocols of a file ask for.
  private static func requirements(of file: SourceText) -> [String] {
    var names: [String] = []
    for index in file.tokens.indices.dropLast()
    where file.tokens[index].text == "protocol" && file.tokens[index + 1].text != "." {
      let inside = file.tokens[index].depth + 1
      guard let open = file.tokens[index...].firstIndex(where: { $0.text == "{" }) else { continue }
      for place in (open + 1)..<file.tokens.count {
        let token = file.tokens[place]
        if token.depth < inside { break }
        if token.depth == inside, ["var", "func", "init", "associatedtype"].contains(token.text),
          let name = declaredName(at: place, in: file)
        {
          names.append(name)
        }
      }
    }
    return names
  }

  private static func isDocumented(_ line: Int, in file: SourceText) -> Bool {
    var above = line - 2
    while above >= 0 {
      let text = file.lines[above].drop { $0 == " " }
      if text.hasPrefix("///") { return true }
      guard text.hasPrefix("@") || text.hasPrefix("#") else { return false }
      above -= 1
    }
    return false
  }

  /// Paths of somebody's machine.
  static let noMachinePaths: Rule = { project in
    let roots = ["home", "Users", "work", "root"].map { "/" + $0 + "/" }
    // Most files have no such path, and a search through a whole file is faster than one by lines.
    let found = project.texts.filter { _, text in
      text.withCString { text in roots.contains { strstr(text, $0) != nil } }
    }
    return found.sorted { $0.key < $1.key }.flatMap { path, text in
      text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
        index, line in
        roots.filter { root in
          line.ranges(of: root).contains { range in
            range.lowerBound == line.startIndex
              || " \"'`(=:".contains(line[line.index(before: range.lowerBound)])
          }
        }.map {
          Finding(path: path, line: index + 1, message: "a path of somebody's machine: \($0)")
        }
      }
    }
  }
}
