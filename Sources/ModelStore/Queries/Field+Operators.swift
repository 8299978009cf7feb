// Comparisons follow SQL. If either side is NULL the result is unknown and the record is not
// selected, neither by `== 5` nor by `!= 5`. Only `== nil` and `!= nil` test for NULL.

extension Field {
  /// Equal; for nil, whether the field is NULL.
  public static func == (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.equal, value)
  }

  /// Different, if both sides are values; for nil, whether the field has a value. `!= 5` does not
  /// select a field that is NULL: use `isDistinct(from:)`.
  public static func != (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.notEqual, value)
  }

  /// Less, by the field's collation; unknown when either is NULL.
  public static func < (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.less, value)
  }

  /// Less or equal, by the field's collation; unknown when either is NULL.
  public static func <= (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.lessOrEqual, value)
  }

  /// Greater, by the field's collation; unknown when either is NULL.
  public static func > (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.greater, value)
  }

  /// Greater or equal, by the field's collation; unknown when either is NULL.
  public static func >= (field: Field, value: V) -> StoreQuery<M>.Predicate {
    field.comparison(.greaterOrEqual, value)
  }
}

/// Comparisons of a required field with an optional value.
extension Field {
  /// Equal; for nil, whether the field is NULL.
  public static func == (field: Field, value: V?) -> StoreQuery<M>.Predicate {
    field.comparison(.equal, value)
  }

  /// Different; for nil, whether the field has a value.
  public static func != (field: Field, value: V?) -> StoreQuery<M>.Predicate {
    field.comparison(.notEqual, value)
  }
}

/// Comparisons of two fields of one record.
extension Field {
  /// Equal; unknown when either or both are NULL.
  public static func == (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.equal, with: right)
  }

  /// Different; unknown when either is NULL.
  public static func != (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.notEqual, with: right)
  }

  /// Less; unknown when either is NULL.
  public static func < (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.less, with: right)
  }

  /// Less or equal; unknown when either is NULL.
  public static func <= (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.lessOrEqual, with: right)
  }

  /// Greater; unknown when either is NULL.
  public static func > (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.greater, with: right)
  }

  /// Greater or equal; unknown when either is NULL.
  public static func >= (left: Field, right: Field) -> StoreQuery<M>.Predicate {
    left.comparison(.greaterOrEqual, with: right)
  }

  /// Whether the fields differ. NULL differs from every value but not from NULL.
  public func isDistinct(from other: Field) -> StoreQuery<M>.Predicate {
    comparison(.isDistinct, with: other)
  }
}

/// A value that is stored as text, so that patterns apply. An enum of texts conforms by naming it.
public protocol TextColumnValue: ColumnValue {}

extension String: TextColumnValue {}
extension Optional: TextColumnValue where Wrapped: TextColumnValue {}

extension Field where V: TextColumnValue {
  /// Whether the text matches: `%` stands for any text and `_` for one character. Only the 26 ASCII
  /// letters match in either case. For a literal text use ``contains(_:)``, ``hasPrefix(_:)`` or
  /// ``hasSuffix(_:)``.
  public func like(_ pattern: String) -> StoreQuery<M>.Predicate {
    pattern.utf8.contains(0)
      ? endsAtNUL : StoreQuery.Predicate(.like(.field(index), pattern: pattern))
  }

  /// Whether the text matches, case-sensitively: `*` stands for any text, `?` for one character,
  /// `[a-z]` for one character of a set.
  public func glob(_ pattern: String) -> StoreQuery<M>.Predicate {
    pattern.utf8.contains(0)
      ? endsAtNUL : StoreQuery.Predicate(.glob(.field(index), pattern: pattern))
  }

  /// Whether the text contains `text`. Every text contains the empty one.
  ///
  /// Characters are compared exactly, as they are stored: case counts, `%`, `_`, `*` and `[` stand
  /// for themselves, and one character in two Unicode spellings is two texts. For example,
  /// "e" followed by U+0301 does not contain "é" as U+00E9. Unknown when the field is NULL.
  ///
  /// - Complexity: The query reads every record that the rest of its condition admits.
  public func contains(_ text: String) -> StoreQuery<M>.Predicate {
    StoreQuery.Predicate(.text(.field(index), .anywhere, text))
  }

  /// Whether the text begins with `prefix`, compared as in ``contains(_:)``.
  ///
  /// - Complexity: With an index on the field, the query reads only the records that match.
  public func hasPrefix(_ prefix: String) -> StoreQuery<M>.Predicate {
    // SQLite uses an index for GLOB, which is exact but for these.
    let isExact = !prefix.unicodeScalars.contains { scalar in
      scalar.value == 0 || 0xFFFD...0xFFFF ~= scalar.value
    }
    var pattern = ""
    for scalar in prefix.unicodeScalars {
      switch scalar {
      case "*", "?", "[": pattern += "[\(scalar)]"
      default: pattern.unicodeScalars.append(scalar)
      }
    }
    pattern += "*"
    return isExact && pattern.utf8.count <= ConnectionSafety.patternByteCountMax
      ? glob(pattern) : StoreQuery.Predicate(.text(.field(index), .atStart, prefix))
  }

  /// Whether the text ends with `suffix`, compared as in ``contains(_:)``.
  ///
  /// - Complexity: As of ``contains(_:)``.
  public func hasSuffix(_ suffix: String) -> StoreQuery<M>.Predicate {
    StoreQuery.Predicate(.text(.field(index), .atEnd, suffix))
  }

  private var endsAtNUL: StoreQuery<M>.Predicate {
    // SQLite reads a pattern up to its first NUL, so the rest would be ignored.
    StoreQuery.Predicate(.invalid(field: index, reason: "a pattern cannot contain NUL"))
  }
}
