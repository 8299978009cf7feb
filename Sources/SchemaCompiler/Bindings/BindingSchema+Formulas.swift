extension BindingSchema {
  /// Two fields that have equal values in records that belong together.
  package struct Match: Hashable, Sendable, Codable {
    /// The field of the record that the value comes from.
    package var source: String
    /// The field of the record with the binding's target.
    package var target: String

    /// Creates a match of two fields by their names.
    package init(source: String, target: String) {
      self.source = source
      self.target = target
    }
  }

  /// A value of one other record.
  ///
  /// The fields that find the record must be unique in its model. If there is no such record, the
  /// target holds its declared default, or NULL without a default, or keeps its last value.
  package struct Lookup: Hashable, Sendable, Codable {
    /// The field that is copied.
    package var source: Field
    /// The fields that match a record of the source's model with a record of the target's model.
    /// Empty when `place` names the record.
    package var match: [Match]
    /// The key of the one source record for all targets, for example a settings record.
    package var place: [SQLValue]?
    /// An SQL expression over the source's record to copy instead of the field itself.
    package var transform: String?
    /// True for a target that keeps its last value while there is no source; nil otherwise.
    package var keepsLast: Bool?

    /// Creates a lookup without checking it; opening a store checks it.
    package init(
      source: Field, match: [Match], place: [SQLValue]? = nil, transform: String? = nil,
      keepsLast: Bool? = nil
    ) {
      self.source = source
      self.match = match
      self.place = place
      self.transform = transform
      self.keepsLast = keepsLast
    }
  }

  /// A value computed from several records.
  package struct Aggregate: Hashable, Sendable, Codable {
    /// The function that computes the value.
    package enum Function: String, Hashable, Sendable, Codable, CaseIterable {
      /// The number of records, or of non-NULL values of a field.
      case count
      /// The sum of whole numbers; 0 when there are none.
      case sum
      /// The average of whole numbers, as a real number.
      case average
      case minimum, maximum
      /// The value of the first or last record in an order.
      case first, last
      /// All non-NULL values in an order, as one text.
      case joined
    }

    /// The function that computes the value.
    package var function: Function
    /// The model of the aggregated records.
    package var model: String
    /// The aggregated field; nil for a count of records and for an expression.
    package var field: String?
    /// The SQL expression over the model's columns that is aggregated instead of a field.
    package var expression: String?
    /// The digits after the point of each decimal in the expression; nil if it has none. The
    /// aggregate is then a decimal.
    package var scale: Int?
    /// The field that orders the records, for `first`, `last` and `joined`. The key decides between
    /// equal values, and alone when this is nil.
    package var order: String?
    /// The separator of joined texts; nil for all other functions.
    package var separator: String?
    /// The fields that match records with their target. Empty when `place` names the single target.
    package var match: [Match]
    /// The key of the single record that holds the aggregate of all records.
    package var place: [SQLValue]?
    /// An SQL condition for the records that count; nil for all.
    package var condition: String?

    /// Creates an aggregate without checking it; opening a store checks it.
    package init(
      _ function: Function, model: String, field: String? = nil, expression: String? = nil,
      scale: Int? = nil, order: String? = nil, separator: String? = nil,
      match: [Match], place: [SQLValue]? = nil, condition: String? = nil
    ) {
      self.function = function
      self.model = model
      self.field = field
      self.expression = expression
      self.scale = scale
      self.order = order
      self.separator = separator
      self.match = match
      self.place = place
      self.condition = condition
    }
  }

  /// Two fields that follow each other.
  package struct TwoWay: Hashable, Sendable, Codable {
    /// The other end; the binding's target is the right end.
    package var left: Field
    /// The fields that match records of the two models; `source` belongs to the left one. Empty for
    /// two fields of one record. Each side's fields must be unique there.
    package var match: [Match]
    /// The SQL expression over the left record that the right end follows; nil for the field
    /// itself.
    package var forward: String?
    /// The SQL expression over the right record that the left end follows; nil for the field
    /// itself.
    package var backward: String?
    /// What to do when both ends were written.
    package var conflict: BindingConflict
    /// The end that determines the values when the binding is created or rebuilt.
    package var initially: BindingSide

    /// Creates a two-way formula without checking it; opening a store checks it.
    package init(
      left: Field, match: [Match], forward: String? = nil, backward: String? = nil,
      conflict: BindingConflict = .leftWins, initially: BindingSide = .left
    ) {
      self.left = left
      self.match = match
      self.forward = forward
      self.backward = backward
      self.conflict = conflict
      self.initially = initially
    }
  }
}

extension BindingSchema.Lookup {
  package func text(for target: BindingSchema.Field) -> String {
    var text = transform.map { "\($0) of \(source.model)" } ?? source.description
    text += BindingSchema.text(match, place, of: source.model, for: target)
    return keepsLast == true ? text + ", the last one kept" : text
  }
}

extension BindingSchema.Aggregate {
  package func text(for target: BindingSchema.Field) -> String {
    let value = expression.map { "\($0) of \(model)" } ?? field.map { "\(model).\($0)" } ?? model
    var text = "\(function.rawValue)(\(value)"
    if let scale { text += " at scale \(scale)" }
    if let order { text += " by \(order)" }
    if let separator { text += " with \(SQLText.literal(separator))" }
    if let condition { text += " where \(condition)" }
    text += ")"
    guard let place else { return text + BindingSchema.text(match, nil, of: model, for: target) }
    return text + " in \(target.model) \(BindingSchema.text(place))"
  }
}

extension BindingSchema.TwoWay {
  package func text(for right: BindingSchema.Field) -> String {
    var text = "\(right) ↔ \(left)"
    text += BindingSchema.text(match, nil, of: left.model, for: right)
    if let forward { text += ", forward \(forward)" }
    if let backward { text += ", backward \(backward)" }
    return text + " (\(conflict.rawValue))"
  }
}

extension BindingSchema {
  fileprivate static func text(
    _ match: [Match], _ place: [SQLValue]?, of source: String, for target: Field
  ) -> String {
    if let place { return " of \(source) \(text(place))" }
    guard !match.isEmpty else { return "" }
    let pairs = match.map { "\(source).\($0.source) = \(target.model).\($0.target)" }
    return " where \(pairs.joined(separator: " and "))"
  }

  fileprivate static func text(_ place: [SQLValue]) -> String {
    place.map(\.description).joined(separator: ", ")
  }
}

/// What to do when one statement writes different values to both ends, or brings together two
/// records that differ.
public enum BindingConflict: String, Hashable, Sendable, Codable {
  case leftWins, rightWins
  /// The statement is rejected.
  case abort
}

/// One of the two ends.
public enum BindingSide: String, Hashable, Sendable, Codable {
  case left, right
}
