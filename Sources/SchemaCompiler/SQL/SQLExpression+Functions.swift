extension SQLExpression {
  /// Deterministic functions that every common build of SQLite has:
  /// <https://sqlite.org/lang_corefunc.html>.
  static let coreFunctions: Set<String> = [
    "abs", "char", "coalesce", "glob", "hex", "ifnull", "instr", "length", "like", "likelihood",
    "likely", "lower", "ltrim", "max", "min", "nullif", "quote", "replace", "round", "rtrim",
    "substr", "trim", "typeof", "unicode", "unlikely", "upper", "zeroblob",
  ]

  /// Random functions, the clock, and keywords that may precede a parenthesis without being a call.
  private static let otherKnownNames: Set<String> = [
    "random", "randomblob", "date", "time", "datetime", "julianday", "strftime", "unixepoch",
    "printf", "format", "iif", "cast", "and", "or", "not", "in", "between", "is", "like", "glob",
    "case", "when", "then", "else",
  ]

  /// Whether every program can evaluate it: it calls only functions of SQLite itself, and names no
  /// collation.
  var isKnownEverywhere: Bool {
    calledNames.allSatisfy {
      Self.coreFunctions.contains($0) || Self.otherKnownNames.contains($0)
    } && Set(plainNames).isDisjoint(with: ["regexp", "match", "collate"])
  }

  /// Whether the expression always has the same value, for every record and in every program.
  var isConstant: Bool {
    let words: Set = ["null", "true", "false", "as", "and", "or", "not", "is"]
    let types: Set = ["integer", "real", "text", "numeric", "blob"]
    return isKnownEverywhere && clockDependency == nil
      && Set(calledNames).isDisjoint(with: ["random", "randomblob"])
      && Set(plainNames).isSubset(of: words.union(types))
  }

  package func probeText(in model: ModelSchema) -> String {
    let columns = SQLText.quotedList(model.fields.map(\.column))
    return "CREATE TEMP TABLE _ms_probe (\(columns), _ms_value AS (\(text)))"
  }
}

extension SQLDefault {
  /// Whether every program can evaluate it, even without the functions and collations of another
  /// program.
  var isKnownEverywhere: Bool {
    do throws(SQLExpression.Problem) {
      return try SQLExpression(expression).isKnownEverywhere
    } catch {
      return false
    }
  }
}
