/// Rules about Markdown files and what they say of the code.
extension Project {
  static let linksResolve: Rule = { project in
    project.markdown.flatMap { file in
      prose(of: file.lines).flatMap { line, text in
        targets(in: text).compactMap { target -> Finding? in
          if let problem = project.problem(with: target, in: file.path) {
            return Finding(path: file.path, line: line, message: problem)
          }
          return nil
        }
      }
    }
  }

  private func problem(with target: String, in path: String) -> String? {
    guard !target.hasPrefix("http://"), !target.hasPrefix("https://"), !target.hasPrefix("mailto:")
    else { return nil }
    if target.hasPrefix("doc:") {
      let article = target.dropFirst(4) + ".md"
      return paths.contains { $0.hasSuffix("/" + article) } ? nil : "no article \(target)"
    }
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let file = parts[0].isEmpty ? path : resolve(String(parts[0]), from: path)
    guard paths.contains(file) else { return "nothing at \(target)" }
    guard parts.count == 2 else { return nil }
    let headings = markdown.first { $0.path == file }.map { Self.anchors(in: $0.lines) } ?? []
    return headings.contains(String(parts[1])) ? nil : "no heading \(target)"
  }

  private func resolve(_ target: String, from path: String) -> String {
    var parts = path.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(String(part))
      }
    }
    return parts.joined(separator: "/")
  }

  private static func anchors(in lines: [String]) -> Set<String> {
    Set(
      prose(of: lines).filter { $0.text.hasPrefix("#") }.map { heading in
        heading.text.drop { $0 == "#" }.dropFirst().lowercased()
          .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
          .map { $0 == " " ? "-" : $0 }.reduce(into: "") { $0.append($1) }
      })
  }

  /// The lines outside code fences, numbered from 1.
  private static func prose(of lines: [String]) -> [(line: Int, text: String)] {
    var isCode = false
    return lines.enumerated().compactMap { index, text in
      if text.hasPrefix("```") {
        isCode.toggle()
        return nil
      }
      return isCode ? nil : (index + 1, text)
    }
  }

  /// What `](…)` and `<doc:…>` point to.
  private static func targets(in line: String) -> [String] {
    let links = line.ranges(of: "](").map { range in
      String(line[range.upperBound...].prefix { $0 != ")" && $0 != " " })
    }
    let articles = line.ranges(of: "<doc:").map { range in
      "doc:" + line[range.upperBound...].prefix { $0 != ">" }
    }
    return links + articles
  }

  /// Swift code in the README and in articles occurs, line by line, in a file that is compiled.
  static let codeComesFromBuiltFiles: Rule = { project in
    let folders = [
      "Examples", "Tests/ModelStoreMacroTests", "Tests/ModelStoreTests/Documentation/Examples",
      "Tests/SharedMember", "Tests/ModelStorePostgresTests",
    ]
    let built = folders.flatMap { project.swift(under: $0) }
    return project.markdown
      .filter { $0.path == "README.md" || $0.path.contains(".docc/") }
      .flatMap { file in
        fences(in: file.lines).filter { fence in
          !built.contains { contains(fence.code, in: $0.lines) }
        }.map {
          Finding(
            path: file.path, line: $0.line, message: "this code stands in no file of Examples")
        }
      }
  }

  private static func fences(in lines: [String]) -> [(line: Int, code: [String])] {
    var fences: [(Int, [String])] = []
    var open: (line: Int, code: [String])?
    for (index, text) in lines.enumerated() {
      if text.hasPrefix("```") {
        if let fence = open { fences.append(fence) }
        open = open == nil && text == "```swift" ? (index + 1, []) : nil
      } else {
        open?.code.append(text)
      }
    }
    return fences
  }

  /// Whether `code` occurs in `lines`, all of it indented by the same amount.
  private static func contains(_ code: [String], in lines: [String]) -> Bool {
    guard let first = code.first, lines.count >= code.count else { return false }
    return (0...(lines.count - code.count)).contains { start in
      guard lines[start].hasSuffix(first) else { return false }
      let margin = lines[start].dropLast(first.count)
      guard margin.allSatisfy({ $0 == " " }) else { return false }
      return code.indices.allSatisfy { offset in
        code[offset].isEmpty
          ? lines[start + offset].isEmpty : lines[start + offset] == margin + code[offset]
      }
    }
  }

  /// Types in backticks exist: in the guide to the house, in the README and in articles. Decision
  /// records are history and may name what is gone.
  static let namedTypesExist: Rule = { project in
    let words = Set(
      (project.swift(under: "Sources") + project.swift(under: "Tests"))
        .flatMap { $0.tokens.map(\.text) })
    return project.markdown
      .filter { file in
        ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"].contains(file.path)
          || file.path.contains(".docc/")
      }
      .flatMap { file in
        prose(of: file.lines).flatMap { line, text in
          quoted(in: text).filter { !words.contains($0) }.map {
            Finding(path: file.path, line: line, message: "there is no \($0) in the code")
          }
        }
      }
  }

  /// The first part of every `Name`, `Name.member` or `Name/member` in backticks. `Name/` is a
  /// folder.
  private static func quoted(in line: String) -> [String] {
    let single = line.replacing("``", with: "`")
    return single.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }
      .compactMap { _, text in
        let name = text.prefix { $0.isLetter || $0.isNumber }
        let rest = text.dropFirst(name.count)
        guard let first = name.first, first.isUppercase, name.contains(where: \.isLowercase),
          rest.isEmpty || "./<(".contains(rest.first ?? " "), !text.hasSuffix("/")
        else { return nil }
        // A file's name is a path and no type.
        return ["swift", "md", "sql", "h"].contains { text.hasSuffix("." + $0) }
          ? nil : String(name)
      }
  }

  /// The version of the command line is the newest of the changelog, and equals the version in the
  /// README and the first steps.
  static let versionIsTheSame: Rule = { project in
    let path = "Sources/StoreCommand/Commands/VersionCommand.swift"
    let source = project.texts[path] ?? ""
    let version = source.firstMatch(of: /number = "([0-9.]+)"/).map { String($0.1) } ?? "none"
    let expected = [
      "CHANGELOG.md": "\n## \(version)\n",
      "README.md": "from: \"\(version)\"",
      "Sources/ModelStore/ModelStore.docc/getting-started.md": "from: \"\(version)\"",
    ]
    return expected.sorted { $0.key < $1.key }.compactMap { path, text in
      guard let document = project.texts[path], !document.contains(text) else { return nil }
      return Finding(path: path, line: 1, message: "is not about version \(version)")
    }
  }

  /// Decision records are numbered without gaps, and each says all four things.
  static let decisionsAreComplete: Rule = { project in
    let records = project.markdown.filter { $0.path.hasPrefix("Documentation/Decisions/") }
    return records.enumerated().flatMap { index, record in
      let name = record.path.split(separator: "/").last.map(String.init) ?? ""
      let number = String(index + 1)
      let expected = String(repeating: "0", count: 4 - number.count) + number + "-"
      let misnumbered = Finding(
        path: record.path, line: 1, message: "its number should be \(expected)")
      let missing = ["Context", "Decision", "Consequences", "What we turned down"]
        .filter { heading in !record.lines.contains("## " + heading) }
        .map { Finding(path: record.path, line: 1, message: "has no section \($0)") }
      return (name.hasPrefix(expected) ? [] : [misnumbered]) + missing
    }
  }

  /// Invariants are numbered without gaps, and what the code calls one is one.
  static let invariantsAreNumbered: Rule = { project in
    let guide = project.markdown.first { $0.path == "ARCHITECTURE.md" }
    var defined: [(number: String, line: Int)] = []
    for (index, text) in (guide?.lines ?? []).enumerated() where text.hasPrefix("- **I") {
      defined.append((String(text.dropFirst(4).prefix { $0 != "*" }), index + 1))
    }
    let gaps = defined.enumerated().filter { $0.element.number != "I\($0.offset + 1)" }.map {
      Finding(
        path: "ARCHITECTURE.md", line: $0.element.line, message: "expected I\($0.offset + 1)")
    }
    let known = Set(defined.map(\.number))
    let strays = project.swift.flatMap { file in
      file.comments.flatMap { comment in
        invariants(in: comment.text).filter { !known.contains($0) }.map {
          Finding(path: file.path, line: comment.line, message: "there is no invariant \($0)")
        }
      }
    }
    return gaps + strays
  }

  private static func invariants(in comment: String) -> [String] {
    comment.split { !$0.isLetter && !$0.isNumber }.compactMap { word in
      word.first == "I" && word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
        ? String(word) : nil
    }
  }

  private static func isVersion(_ text: some StringProtocol) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy { Int($0) != nil }
  }

  static let changelogOpensWithTheNextVersion: Rule = { project in
    guard let file = project.markdown.first(where: { $0.path == "CHANGELOG.md" }) else { return [] }
    let first = file.lines.enumerated().first { $0.element.hasPrefix("## ") }
    guard let first, first.element == "## Unreleased" || isVersion(first.element.dropFirst(3))
    else {
      return [
        Finding(
          path: file.path, line: (first?.offset ?? 0) + 1,
          message: "the first entry is neither Unreleased nor a version")
      ]
    }
    return []
  }
}
