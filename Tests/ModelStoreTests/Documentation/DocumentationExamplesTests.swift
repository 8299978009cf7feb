import Foundation
import ModelStore
import Testing

/// The articles show code that runs, and name what exists.
///
/// With `RECORD=1` in the environment the articles' code is written again from the examples.
@Suite(.tags(.unit)) struct DocumentationExamplesTests {
  private static let examples = "Tests/ModelStoreTests/Documentation/Examples/"
  private static let catalogue = "Sources/ModelStore/ModelStore.docc/"

  private struct Article {
    let path: String
    var document: ArticleText

    var name: String { String(path.dropFirst(catalogue.count).dropLast(3)) }
  }

  private static func articles(of project: Project) -> [Article] {
    project.markdown.filter { $0.path.hasPrefix(catalogue) }
      .map { Article(path: $0.path, document: ArticleText(lines: $0.lines)) }
  }

  private static func snippets(of project: Project) throws -> [String: [String]] {
    var snippets: [String: [String]] = [:]
    for file in project.swift where file.path.hasPrefix(examples) {
      for (name, code) in try ArticleText.snippets(in: file.lines, of: file.path) {
        #expect(snippets[name] == nil, "two examples are called \(name)")
        snippets[name] = code
      }
    }
    return snippets
  }

  @Test func theCodeInArticlesIsTheCodeOfExamples() throws {
    let project = try Project.checkout.get()
    let snippets = try Self.snippets(of: project)
    let isRecording = ProcessInfo.processInfo.environment["RECORD"] == "1"
    var shown: Set<String> = []
    for article in Self.articles(of: project) {
      var document = article.document
      for block in document.blocks.reversed() {
        let place = "\(article.path):\(block.line)"
        guard let source = block.source else {
          Issue.record("\(place): the code does not say which example it is")
          continue
        }
        if source.hasSuffix(".swift") {
          let text = try #require(project.texts[source], "\(place): there is no \(source)")
          #expect(text.contains(block.code.joined(separator: "\n")), "\(place): not in \(source)")
          continue
        }
        shown.insert(source)
        let code = try #require(snippets[source], "\(place): there is no example \(source)")
        if isRecording {
          document.replace(block, with: code)
        } else {
          #expect(block.code == code, "\(place): run the test with RECORD=1")
        }
      }
      if isRecording {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
          .deletingLastPathComponent().appending(path: "../../..").standardized
        let file = root.appending(path: article.path)
        try Data(document.text.utf8).write(to: file)
      }
    }
    #expect(Set(snippets.keys).subtracting(shown) == [], "examples that no article shows")
  }

  @Test func symbolLinksNamePublicSymbols() throws {
    let project = try Project.checkout.get()
    let symbols = PublicSymbols(project.library)
    let broken = Self.articles(of: project).flatMap { article in
      article.document.symbolLinks.filter { !symbols.contains($0.name) }
        .map { "\(article.path):\($0.line): ``\($0.name)``" }
    }
    #expect(broken == [])
  }

  @Test func everyArticleIsOnTheLandingPageAndHasLimitations() throws {
    let project = try Project.checkout.get()
    let articles = Self.articles(of: project)
    let landing = try #require(articles.first { $0.name == "ModelStore" })
    let others = articles.filter { $0.name != "ModelStore" }
    let listed = landing.document.lines.compactMap { line in
      line.hasPrefix("- <doc:") ? String(line.dropFirst(7).dropLast()) : nil
    }
    #expect(listed.sorted() == others.map(\.name).sorted())
    for article in others {
      #expect(
        article.document.lines.contains("## Limitations"), "\(article.path)")
      #expect(!article.document.blocks.isEmpty, "\(article.path) shows no code")
    }
  }

  @Test func troubleshootingExplainsEveryErrorCode() throws {
    let project = try Project.checkout.get()
    let page = try #require(Self.articles(of: project).first { $0.name == "troubleshooting" })
    let rows = Self.explainedCodes(in: page.document.lines)
    #expect(rows.map(\.code).sorted() == StoreError.Code.allCases.map(\.rawValue).sorted())
    for row in rows {
      #expect(!row.reason.isEmpty && !row.remedy.isEmpty, "\(page.path): \(row.code)")
    }
  }

  @Test func aRowOfTheTableOfCodesHasThreeCells() {
    let rows = Self.explainedCodes(in: [
      "See ``StoreError/Code/busy``.", "| Code | What happened | What to do |", "|---|---|---|",
      "| ``StoreError/Code/busy`` | It was locked. | |", "| `busy` | yes |",
    ])
    #expect(rows.map(\.code) == ["busy"])
    #expect(rows.map(\.reason) == ["It was locked."])
    #expect(rows.map(\.remedy) == [""])
  }

  /// The rows of a table whose first cell links to a code of ``StoreError``.
  private static func explainedCodes(
    in lines: [String]
  ) -> [(code: String, reason: String, remedy: String)] {
    lines.compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, cells[1].hasPrefix("``StoreError/Code/"), cells[1].hasSuffix("``")
      else { return nil }
      return (String(cells[1].dropFirst(18).dropLast(2)), cells[2], cells[3])
    }
  }

  @Test func aBrokenLinkAndACopiedBlockAreFound() throws {
    let source = SourceText(
      path: "Sources/ModelStore/Planted.swift",
      text: """
        public struct Planted<Element>: Sendable {
          public enum Kind { case plain, odd(Int) }
          public let size: Int
          let hidden: Int
          public init(_ size: Int, named name: String) {}
        }
        extension Planted {
          public func grow<T>(@Maker<T> _ steps: (T) -> [Int], by amount: Pair<Int, Int>) {}
          func shrink() {}
        }
        public protocol Growing {
          func grow() throws
        }
        """)
    let symbols = PublicSymbols([source])
    #expect(
      symbols.paths == [
        "Planted", "Planted/Kind", "Planted/Kind/plain", "Planted/Kind/odd(_:)", "Planted/size",
        "Planted/init(_:named:)", "Planted/grow(_:by:)", "Growing", "Growing/grow()",
      ])
    let article = ArticleText(lines: [
      "See ``Planted/size`` and ``Planted/hidden``.", "", "<!-- snippet: one -->", "```swift",
      "let one = 1", "```", "```swift", "let two = 2", "```",
    ])
    let broken = article.symbolLinks.map(\.name).filter { !symbols.contains($0) }
    #expect(broken == ["Planted/hidden"])
    #expect(article.blocks.map(\.source) == ["one", nil])
    #expect(article.blocks.map(\.code) == [["let one = 1"], ["let two = 2"]])
    let snippets = try ArticleText.snippets(
      in: ["  // snippet: one", "  if a {", "    b()", "", "  }", "  // end"], of: "Planted.swift")
    #expect(snippets["one"] == ["if a {", "  b()", "", "}"])
  }
}
