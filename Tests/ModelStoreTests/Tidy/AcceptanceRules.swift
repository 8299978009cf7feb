/// The ids with which titles of tests begin, such as `JK17`, and the page that explains them.
extension Project {
  static let acceptancePage = "Documentation/Acceptance.md"

  /// An id in the title of a test.
  struct CarriedID: Hashable {
    let id: String
    /// `Suite/function`, as `swift test --filter` takes it.
    let test: String
    let path: String
    let line: Int
  }

  /// A row of the page's tables.
  struct AcceptanceRow: Hashable {
    let id: String
    let line: Int
    /// Whether the row is outside the section of ids that no test carries.
    let isCovered: Bool
  }

  /// The ids of all titles, by file and line.
  var carriedIDs: [CarriedID] {
    swift(under: "Tests").flatMap { file in
      file.places(of: "@", "Test", "(").flatMap { place in
        let name = file.tokens.drop { $0.position < place.position }.drop { $0.text != "func" }
          .dropFirst().first?.text
        let suite = file.name.prefix { $0 != "." && $0 != "+" }
        return Self.ids(openingTitle: file.title(ofTestAt: place)).map {
          CarriedID(id: $0, test: "\(suite)/\(name ?? "")", path: file.path, line: place.line)
        }
      }
    }
  }

  private static func ids(openingTitle title: String) -> [String] {
    title.split(separator: " ").map(String.init).prefix(while: isID).map { $0 }
  }

  /// `P4` and `JK17`, but neither `SHA256` nor `A`.
  private static func isID(_ word: String) -> Bool {
    let letters = word.prefix { $0.isASCII && $0.isUppercase }
    let digits = word.dropFirst(letters.count)
    return (1...2).contains(letters.count) && (1...2).contains(digits.count)
      && digits.allSatisfy { $0.isASCII && $0.isNumber }
  }

  static func acceptanceRows(in lines: [String]) -> [AcceptanceRow] {
    var isCovered = true
    var rows: [AcceptanceRow] = []
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("## ") { isCovered = line != "## Not covered by a test" }
      guard let id = rowID(line) else { continue }
      rows.append(AcceptanceRow(id: id, line: index + 1, isCovered: isCovered))
    }
    return rows
  }

  private static func rowID(_ line: String) -> String? {
    guard line.hasPrefix("| ") else { return nil }
    let id = String(line.dropFirst(2).prefix { $0 != " " })
    return isID(id) ? id : nil
  }

  /// The page with the names of the tests in the third column of its tables.
  static func acceptancePage(_ lines: [String], naming carried: [CarriedID]) -> [String] {
    let tests = Dictionary(grouping: carried, by: \.id)
    return lines.map { line in
      guard let id = rowID(line) else { return line }
      var cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard cells.count == 5 else { return line }
      let names = (tests[id] ?? []).map { "`\($0.test)`" }.joined(separator: ", ")
      cells[3] = names.isEmpty ? " " : " \(names) "
      return cells.joined(separator: "|")
    }
  }

  /// The page explains each id once, and says which ids no test carries.
  static let acceptanceIsExplained: Rule = { project in
    let lines = project.markdown.first { $0.path == acceptancePage }?.lines ?? []
    let rows = acceptanceRows(in: lines)
    let carried = project.carriedIDs
    let carriedNames = Set(carried.map(\.id))
    var explained: Set<String> = []
    let ofRows = rows.compactMap { row -> Finding? in
      let isNew = explained.insert(row.id).inserted
      let isCarried = carriedNames.contains(row.id)
      let message: String
      switch (isNew, isCarried, row.isCovered) {
      case (false, _, _): message = "explains \(row.id) a second time"
      case (true, false, true): message = "no test carries \(row.id)"
      case (true, true, false): message = "a test carries \(row.id)"
      default: return nil
      }
      return Finding(path: acceptancePage, line: row.line, message: message)
    }
    let ofTitles = carried.filter { !explained.contains($0.id) }.map {
      Finding(path: $0.path, line: $0.line, message: "\(acceptancePage) does not explain \($0.id)")
    }
    return ofRows + ofTitles
  }
}

extension SourceText {
  /// The title in `@Test("…")`, or nothing.
  fileprivate func title(ofTestAt place: Token) -> String {
    let rest = lines[(place.line - 1)...].prefix(2).joined(separator: "\n")
    guard let opening = rest.firstRange(of: "@Test(") else { return "" }
    let argument = rest[opening.upperBound...].drop(while: \.isWhitespace)
    return argument.first == "\"" ? String(argument.dropFirst().prefix { $0 != "\"" }) : ""
  }
}
