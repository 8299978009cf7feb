/// An expression of sums, differences and products of columns and numbers.
///
/// Such an expression can be computed exactly for decimals, which are stored as text: as a whole
/// number of the smallest unit. For all other expressions SQLite alone knows what they compute.
struct Arithmetic: Hashable, Sendable {
  private indirect enum Term: Hashable, Sendable {
    case column(FieldSchema)
    /// The digits without their point, and how many of them follow it.
    case number(String, scale: Int)
    case negative(Term)
    case sum(Term, Term, isDifference: Bool)
    case product(Term, Term)
  }

  private let root: Term
  /// The columns that it names, each once.
  let fields: [FieldSchema]
  /// Whether it names a number with a point.
  let hasFraction: Bool

  /// - Returns: nil if `expression` contains anything else.
  init?(_ expression: SQLExpression, columnsOf model: ModelSchema) {
    var parser = Parser(expression.text, columnsOf: model)
    guard let root = parser.sum(), parser.isAtEnd else { return nil }
    self.root = root
    fields = parser.found.withoutRepeats
    hasFraction = parser.hasFraction
  }

  /// Returns how many digits after the point the result has.
  ///
  /// - Parameter decimals: The digits after the point of each decimal.
  func scale(decimals: Int) -> Int { Self.scale(of: root, decimals) }

  private static func scale(of term: Term, _ decimals: Int) -> Int {
    switch term {
    case .column(let field): field.type == .decimal ? decimals : 0
    case .number(_, let scale): scale
    case .negative(let term): scale(of: term, decimals)
    case .sum(let left, let right, _): max(scale(of: left, decimals), scale(of: right, decimals))
    case .product(let left, let right): scale(of: left, decimals) + scale(of: right, decimals)
    }
  }

  /// Returns the result as a whole number of its smallest unit, in SQL.
  ///
  /// The value is NULL if a column is NULL. It is a real number if a column holds another value
  /// than its type says, or if a product exceeds 64 bits, so the caller can detect both.
  ///
  /// - Parameters:
  ///   - isLoose: Whether a column can hold a value of another type.
  ///   - cell: Returns the column of a field in SQL.
  func sql(decimals: Int, isLoose: Bool, _ cell: (FieldSchema) -> String) -> String {
    sql(of: root, decimals, isLoose, cell)
  }

  private func sql(
    of term: Term, _ decimals: Int, _ isLoose: Bool, _ cell: (FieldSchema) -> String
  ) -> String {
    func sql(_ term: Term) -> String { self.sql(of: term, decimals, isLoose, cell) }
    switch term {
    case .column(let field) where field.type == .decimal:
      return DecimalSQL.scaled(cell(field), by: decimals)
    case .column(let field):
      let column = cell(field)
      guard isLoose else { return column }
      return
        "CASE WHEN typeof(\(column)) IN ('integer', 'null') THEN \(column) ELSE 0.0 END"
    case .number(let digits, _): return digits
    case .negative(let term): return "(-\(sql(term)))"
    case .product(let left, let right): return "(\(sql(left)) * \(sql(right)))"
    case .sum(let left, let right, let isDifference):
      let scale = Self.scale(of: term, decimals)
      func aligned(_ term: Term) -> String {
        let zeros = scale - Self.scale(of: term, decimals)
        return zeros == 0 ? sql(term) : "(\(sql(term)) * \(DecimalSQL.power(zeros)))"
      }
      return "(\(aligned(left)) \(isDifference ? "-" : "+") \(aligned(right)))"
    }
  }
}

extension Arithmetic {
  /// Reads `a + b * (c - 1)` by the precedence of SQLite's operators.
  private struct Parser {
    private let cut: SQLTokens
    private let tokens: [SQLTokens.Token]
    private let model: ModelSchema
    private var place = 0
    private(set) var found: [FieldSchema] = []
    private(set) var hasFraction = false

    init(_ text: String, columnsOf model: ModelSchema) {
      cut = SQLTokens(text)
      tokens = cut.significant
      self.model = model
    }

    var isAtEnd: Bool { place == tokens.count }

    private mutating func take(_ symbol: Character) -> Bool {
      guard !isAtEnd, cut.isSymbol(tokens[place], symbol) else { return false }
      place += 1
      return true
    }

    mutating func sum() -> Term? {
      guard var result = product() else { return nil }
      while true {
        let isDifference: Bool
        if take("+") {
          isDifference = false
        } else if take("-") {
          isDifference = true
        } else {
          return result
        }
        guard let next = product() else { return nil }
        result = .sum(result, next, isDifference: isDifference)
      }
    }

    private mutating func product() -> Term? {
      guard var result = factor() else { return nil }
      while take("*") {
        guard let next = factor() else { return nil }
        result = .product(result, next)
      }
      return result
    }

    private mutating func factor() -> Term? {
      if take("+") { return factor() }
      if take("-") { return factor().map { .negative($0) } }
      if take("(") {
        guard let inner = sum(), take(")") else { return nil }
        return inner
      }
      guard !isAtEnd else { return nil }
      let token = tokens[place]
      place += 1
      switch token.kind {
      case .number: return number(cut.text(token.range))
      case .word, .quotedName: return column(cut.name(token).asciiFolded)
      default: return nil
      }
    }

    private mutating func column(_ name: String) -> Term? {
      guard let field = model.fields.first(where: { $0.column.asciiFolded.isExactly(name) })
      else { return nil }
      found.append(field)
      return .column(field)
    }

    private mutating func number(_ text: String) -> Term? {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count <= 2, parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) else { return nil }
      let scale = parts.count == 2 ? parts[1].utf8.count : 0
      hasFraction = hasFraction || parts.count == 2
      let digits = parts.joined().drop { $0 == "0" }
      guard digits.utf8.count <= DecimalSQL.maxDigitCount else { return nil }
      return .number(digits.isEmpty ? "0" : String(digits), scale: scale)
    }

    private func isDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
  }
}
