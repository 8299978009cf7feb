#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A bar chart of a report as SVG: for each workload the fastest contender of each library, as a
/// multiple of SQLite's C API, and of each program, as a multiple of the `sqlite3` shell. The scale
/// is logarithmic.
struct Chart {
  /// A workload in which ModelStore, SQLite and another peer ran; among programs SQLite is enough.
  private struct Row {
    let title: String
    /// The medians over runs, to that of SQLite.
    let ratios: [(title: String, library: Contender.Library, ratio: Double)]
  }

  private let rows: [Row]
  private let footnote: String

  init(_ report: Report) {
    rows = report.workloads.compactMap { workload in
      let isProgram = workload.peers == .programs
      let ratios = Contender.Library.charted.compactMap { library in
        workload.contenders.filter { $0.library == library }.compactMap(\.ratioToSQLite).min()
          .map { (title: library.title(amongPrograms: isProgram), library: library, ratio: $0) }
      }
      let isOwn = ratios.contains { $0.library == .modelStore }
      guard isOwn, ratios.count >= (isProgram ? 2 : 3) else { return nil }
      return Row(title: "\(workload.id)  \(workload.title)", ratios: ratios)
    }
    footnote =
      "Time per operation as a multiple of SQLite's C API, or of the sqlite3 shell, in the same "
      + "run, on a logarithmic scale; shorter is faster. "
      + "SQLite \(report.sqliteVersion), GRDB \(report.grdbVersion), \(report.runs) runs."
  }

  /// Writes the chart, replacing the file at `path`.
  func write(to path: String) throws {
    do {
      try Data(svg.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw BenchmarkFailure("The chart cannot be written to \(path): \(error)")
    }
  }

  // Lengths are in the SVG's own units.
  private static let width = 860.0
  private static let barLeft = 130.0
  private static let barRight = 780.0
  private static let barHeight = 13.0
  private static let rowHeight = 78.0

  private var svg: String {
    let height = Double(rows.count) * Self.rowHeight + 44
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
      role="img" font-family="system-ui, sans-serif" font-size="12">
      """,
      "<title>\(footnote)</title>",
      """
      <style>text { fill: #1f2328 } .sqlite { fill: #9aa4af } .grdb { fill: #d18b2c }
      .sqliteUtils { fill: #b0553a }
      .modelStore { fill: #2f6fd0 } .rule { stroke: #9aa4af; stroke-dasharray: 3 3 }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>
      """,
    ]
    for (index, row) in rows.enumerated() { lines += bars(of: row, at: Double(index)) }
    let top = Double(rows.count) * Self.rowHeight
    let one = Self.barLeft + position(of: 1)
    lines.append(
      "<line class=\"rule\" x1=\"\(one)\" y1=\"0\" x2=\"\(one)\" y2=\"\(top)\"/>")
    lines.append("<text x=\"8\" y=\"\(top + 24)\">\(footnote)</text>")
    lines.append("</svg>\n")
    return lines.joined(separator: "\n")
  }

  private func bars(of row: Row, at index: Double) -> [String] {
    let top = index * Self.rowHeight
    let title = Self.escaped(row.title)
    var lines = ["<text x=\"8\" y=\"\(top + 16)\" font-weight=\"600\">\(title)</text>"]
    for (offset, bar) in row.ratios.enumerated() {
      let y = top + 24 + Double(offset) * (Self.barHeight + 3)
      let length = max(2, position(of: bar.ratio))
      let text = y + Self.barHeight - 2
      lines += [
        "<text x=\"24\" y=\"\(text)\">\(bar.title)</text>",
        """
        <rect class="\(bar.library.rawValue)" x="\(Self.barLeft)" y="\(y)" width="\(length)" \
        height="\(Self.barHeight)"/>
        """,
        "<text x=\"\(Self.barLeft + length + 6)\" y=\"\(text)\">\(Self.text(bar.ratio))</text>",
      ]
    }
    return lines
  }

  /// Returns the distance of a ratio from the left of the bars.
  private func position(of ratio: Double) -> Double {
    let all = rows.flatMap(\.ratios).map(\.ratio) + [1]
    let least = log10(all.min() ?? 1) - 0.3
    let most = log10(all.max() ?? 1)
    return (log10(ratio) - least) / (most - least) * (Self.barRight - Self.barLeft)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }

  private static func text(_ ratio: Double) -> String {
    guard ratio >= 0.0001 else { return "below 0.0001 ×" }
    let places = ratio < 0.01 ? 10_000.0 : ratio < 0.1 ? 1000.0 : ratio < 10 ? 100.0 : 10.0
    return "\((ratio * places).rounded() / places) ×"
  }
}

extension Contender.Library {
  fileprivate static let charted: [Self] = [.modelStore, .grdb, .sqliteUtils, .sqlite]

  fileprivate func title(amongPrograms isProgram: Bool) -> String {
    switch self {
    case .sqlite: isProgram ? "sqlite3" : "SQLite's C API"
    case .grdb: "GRDB"
    case .modelStore: isProgram ? "storecli" : "ModelStore"
    case .sqliteUtils: "sqlite-utils"
    case .postgres: "PostgreSQL"
    }
  }
}
