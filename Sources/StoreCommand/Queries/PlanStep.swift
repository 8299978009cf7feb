/// A step of SQLite's plan for a statement, in words.
///
/// SQLite may change its own words, so a step that is not known here stays as it is.
/// See <https://sqlite.org/eqp.html>.
struct PlanStep: Hashable, Sendable {
  /// SQLite's own words.
  let detail: String
  /// How deep the step is inside others.
  let depth: Int

  var words: String {
    if detail.hasPrefix("SCAN "),
      detail.hasSuffix("CONSTANT ROW") || detail.contains("VIRTUAL TABLE")
    {
      return detail
    }
    if let match = detail.wholeMatch(of: Self.scan) {
      let table = match.output.1
      guard let index = match.output.3 else { return "full scan: reads every row of \(table)" }
      return match.output.2 == nil
        ? "full scan: reads every row of \(table), in the order of the index \(index)"
        : "full scan: reads every entry of the index \(index), not the table \(table)"
    }
    if let match = detail.wholeMatch(of: Self.key) {
      return "key: finds rows of \(match.output.1) by \(match.output.2)"
    }
    if let match = detail.wholeMatch(of: Self.automatic) {
      return "builds an index for this statement alone, and finds rows of \(match.output.1) by "
        + "\(match.output.2)"
    }
    if let match = detail.wholeMatch(of: Self.search) {
      if match.output.3.isEmpty {
        return "key: finds rows of \(match.output.1) by \(match.output.4)"
      }
      let covered = match.output.2 == nil ? "" : ", without reading the table"
      return
        "index \(match.output.3): finds rows of \(match.output.1) by \(match.output.4)\(covered)"
    }
    switch detail {
    case "USE TEMP B-TREE FOR ORDER BY":
      return "sort: sorts the rows, because no index has this order"
    case "USE TEMP B-TREE FOR GROUP BY": return "sort: sorts the rows to group them"
    case "USE TEMP B-TREE FOR DISTINCT": return "removes duplicates in a temporary index"
    case "MULTI-INDEX OR": return "finds the rows of each part of an OR, then joins them:"
    default:
      return detail.hasPrefix("USE TEMP B-TREE FOR ") && detail.hasSuffix("ORDER BY")
        ? "sort: sorts rows that are equal in the first terms" : detail
    }
  }

  private static var scan: Regex<(Substring, Substring, Substring?, Substring?)> {
    /SCAN (.+?)(?: USING (COVERING )?INDEX (.+))?/
  }

  private static var key: Regex<(Substring, Substring, Substring)> {
    /SEARCH (.+) USING INTEGER PRIMARY KEY \((.+)\)/
  }

  private static var automatic: Regex<(Substring, Substring, Substring)> {
    /SEARCH (.+) USING AUTOMATIC (?:PARTIAL )?(?:COVERING )?INDEX \((.+)\)/
  }

  private static var search: Regex<(Substring, Substring, Substring?, Substring, Substring)> {
    /SEARCH (.+) USING (COVERING )?(?:INDEX|PRIMARY KEY) ?(.*?) ?\((.+)\)/
  }
}
