import RecordFormats

/// The rows of a terminal that an input takes, and where its cursor is. It is a pure function of
/// the input, the prompts and the size of the terminal.
struct LinePicture: Equatable {
  /// What stands before the lines of an input.
  struct Prompts: Equatable {
    /// Before the first line.
    var first: String
    /// Before every other line.
    var others: String
  }

  private(set) var rows: [String]
  /// The cursor's row among ``rows``, and its column; both from 0.
  private(set) var cursor: (row: Int, column: Int)

  static func == (left: LinePicture, right: LinePicture) -> Bool {
    left.rows == right.rows && left.cursor == right.cursor
  }

  /// - Parameters:
  ///   - width: The cells in a row of the terminal.
  ///   - height: The rows of the terminal; nil if it is not known. A longer input shows the rows
  ///     around its cursor.
  init(of line: LineText, prompts: Prompts, width: Int, height: Int? = nil) {
    var layout = Layout(width: max(2, width))
    layout.add(CellText.visible(prompts.first))
    layout.add(line.before, prompts)
    let cursor = layout.place
    layout.add(line.after, prompts)
    rows = layout.rows
    self.cursor = cursor
    // The terminal's cursor cannot stand behind the last cell of a row.
    if cursor.row == rows.count { rows.append("") }
    guard let height, rows.count > height else { return }
    let first = min(max(0, cursor.row - height + 1), rows.count - height)
    rows = Array(rows[first..<first + height])
    self.cursor.row -= first
  }

  /// The bytes that draw this picture, where `earlier` is shown and the cursor is in it.
  ///
  /// - Parameter dress: Colours the prompt, which is the beginning of the first row.
  func drawn(over earlier: LinePicture?, dress: (String) -> String = { $0 }) -> String {
    var text = Self.erasing(earlier)
    text += ([dress(rows[0])] + rows.dropFirst()).joined(separator: "\r\n")
    let below = rows.count - 1 - cursor.row
    if below > 0 { text += "\u{1B}[\(below)A" }
    text += "\r"
    if cursor.column > 0 { text += "\u{1B}[\(cursor.column)C" }
    return text
  }

  /// The bytes that remove a picture; the cursor is then where the picture began.
  static func erasing(_ picture: LinePicture?) -> String {
    guard let picture else { return "\r\u{1B}[J" }
    let above = picture.cursor.row > 0 ? "\u{1B}[\(picture.cursor.row)A" : ""
    return "\r\(above)\u{1B}[J"
  }

  /// The bytes that leave the picture on the screen, with the cursor in the row below.
  var left: String {
    let below = rows.count - 1 - cursor.row
    return (below > 0 ? "\u{1B}[\(below)B" : "") + "\r\n"
  }

  private struct Layout {
    let width: Int
    private(set) var rows = [""]
    private var column = 0

    init(width: Int) { self.width = width }

    /// Where the next character will be.
    var place: (row: Int, column: Int) {
      column < width ? (rows.count - 1, column) : (rows.count, 0)
    }

    mutating func add(_ text: String, _ prompts: Prompts) {
      for character in text {
        guard character == "\n" else {
          add(CellText.visible(String(character)))
          continue
        }
        rows.append("")
        column = 0
        add(prompts.others)
      }
    }

    mutating func add(_ text: String) {
      for character in text {
        let cells = DisplayWidth.of(String(character))
        if column + cells > width {
          rows.append("")
          column = 0
        }
        rows[rows.count - 1].append(character)
        column += cells
      }
    }
  }
}
