/// SQL and the arguments for it, built together so that no value ever becomes SQL.
///
/// A literal is SQL; an interpolated value becomes an argument:
/// ```swift
/// let text: SQLText = "SELECT * FROM \(identifier: name) WHERE length(title) > \(limit)"
/// // sql: SELECT * FROM "Track" WHERE length(title) > ?   arguments: [10]
/// ```
/// The value can be of any type that a field can have: a number, text, a date, a UUID, a Boolean,
/// an enum, an optional. `nil` becomes NULL, and nothing is equal to NULL: compare with
/// `IS \(value)`.
///
/// Not a query builder: for typed conditions use ``StoreQuery``.
public struct SQLText: Hashable, Sendable {
  /// The statement's text, with one `?` for each argument.
  public private(set) var sql: String
  /// The arguments, in the order of their `?`.
  public private(set) var arguments: [SQLValue]
  /// Why an interpolated value cannot be an argument. Interpolation cannot throw, so the statement
  /// does.
  package private(set) var unstorable: String?

  /// Creates a text from `sql` as it is, with one `?` for each of `arguments`. The label
  /// distinguishes it from an interpolated literal, in which values become arguments.
  public init(sql: String, arguments: [SQLValue] = []) {
    self.sql = sql
    self.arguments = arguments
  }

  /// Texts are equal when their bytes are, as SQLite compares them.
  public static func == (left: SQLText, right: SQLText) -> Bool {
    left.sql.isExactly(right.sql) && left.arguments == right.arguments
      && left.unstorable == right.unstorable
  }

  /// Appends the text of `other`, and its values after the existing ones.
  public mutating func append(_ other: SQLText) {
    sql += other.sql
    arguments += other.arguments
    unstorable = unstorable ?? other.unstorable
  }

  package mutating func append(sql text: String) {
    sql += text
  }

  /// Returns `name` as an SQL identifier: in double quotes, inner quotes doubled.
  ///
  /// SQLite would stop reading the statement at a NUL, so it is replaced by U+FFFD. Then the name
  /// is unknown, instead of changing the meaning of the statement. See
  /// <https://sqlite.org/lang_keywords.html>.
  @inlinable package static func quoted(_ name: String) -> String {
    var text = "\""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": text += "\"\""
      case "\0": text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// Returns `names` quoted and separated by commas.
  package static func quotedList(_ names: some Sequence<String>) -> String {
    names.map(quoted).joined(separator: ", ")
  }

  /// Returns `text` as an SQL string literal, for the bodies of triggers and CHECKs, which take no
  /// arguments.
  package static func literal(_ text: String) -> String {
    SQLValue.text(text).description
  }
}

extension SQLText: ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) {
    self.init(sql: value)
  }

  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.text
  }

  /// Collects literals as SQL and values as arguments.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    package var text: SQLText

    public init(literalCapacity: Int, interpolationCount: Int) {
      text = SQLText(sql: "")
      text.sql.reserveCapacity(literalCapacity + interpolationCount)
      text.arguments.reserveCapacity(interpolationCount)
    }

    public mutating func appendLiteral(_ literal: String) {
      text.sql += literal
    }

    public mutating func appendInterpolation(_ value: SQLValue) {
      text.sql += "?"
      text.arguments.append(value)
    }

    public mutating func appendInterpolation(
      _ value: some BinaryInteger & FixedWidthInteger & SignedInteger
    ) {
      appendInterpolation(SQLValue.integer(Int64(value)))
    }

    public mutating func appendInterpolation(_ value: Double) {
      appendInterpolation(SQLValue.real(value))
    }

    public mutating func appendInterpolation(_ value: String) {
      appendInterpolation(SQLValue.text(value))
    }

    /// Takes the place of a value that cannot be an argument: the statement throws `problem`.
    package mutating func appendUnstorable(_ problem: String) {
      // Where the problem is not looked at, SQLite's binding refuses this value.
      appendInterpolation(Double.nan)
      text.unstorable = text.unstorable ?? problem
    }

    /// A table's, column's or other object's name, quoted.
    public mutating func appendInterpolation(identifier name: String) {
      text.sql += SQLText.quoted(name)
    }

    /// Another piece of SQL with its arguments.
    public mutating func appendInterpolation(_ other: SQLText) {
      text.append(other)
    }
  }
}

extension SQLText {
  /// Returns the statement's first word in upper case, after comments and blanks; empty when there
  /// is none.
  package static func firstKeyword(of sql: String) -> String {
    let word = droppingBlanks(sql.utf8[...]).prefix { byte in
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }
    return String(decoding: word, as: UTF8.self).uppercased()
  }

  /// Returns whether SQLite skips `byte` between tokens. It skips a vertical tab only after another
  /// blank, and refuses it elsewhere.
  package static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Returns `text` from the first byte of a statement: without the comments, blanks and semicolons
  /// before it.
  package static func droppingBlanks(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var rest = text
    while let first = rest.first {
      if rest.starts(with: "--".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if rest.starts(with: "/*".utf8) {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
      } else if isBlank(first) || first == UInt8(ascii: ";") {
        rest = rest.dropFirst()
      } else if rest.starts(with: "\u{FEFF}".utf8) {
        // SQLite reads a byte order mark as a space, at any position.
        rest = rest.dropFirst(3)
      } else {
        break
      }
    }
    return rest
  }
}
