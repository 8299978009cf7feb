extension BindingSchema {
  /// Two fields that are equal in records that belong together.
  package struct Match: Hashable, Sendable, Codable {
    /// The field of the record that the value comes from.
    package var source: String
    /// The field of the record that the binding's target is in.
    package var target: String

    /// Two fields by their names.
    package init(source: String, target: String) {
      self.source = source
      self.target = target
    }
  }

  /// A value of one other record.
  ///
  /// The fields that find the record must be unique in its model. Where there is none, the target
  /// holds its declared default, or NULL when it has none, or keeps its last value.
  package struct Lookup: Hashable, Sendable, Codable {
    /// The field that is copied.
    package var source: Field
    /// Which record of the source's model belongs to a record of the target's. Empty when `place`
    /// names it.
    package var match: [Match]
    /// The key of the one source record for all targets: settings, for instance.
    package var place: [SQLValue]?
    /// An SQL expression over the source's record that is copied instead of the field itself.
    package var transform: String?
    /// True for a target that keeps its last value while there is no source; nil otherwise.
    package var keepsLast: Bool?

    /// A value of one other record. Checks nothing: opening a store does.
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

  /// What several records come to.
  package struct Aggregate: Hashable, Sendable, Codable {
    /// What is made of the values.
    package enum Function: String, Hashable, Sendable, Codable, CaseIterable {
      /// How many records, or how many values but NULL of a field.
      case count
      /// Of whole numbers; 0 when there are none.
      case sum
      /// Of whole numbers, as a real number.
      case average
      case minimum, maximum
      /// The value of the first, or last, record in an order.
      case first, last
      /// All values but NULL in an order, as one text.
      case joined
    }

    /// What is made of the values.
    package var function: Function
    /// The model whose records are counted.
    package var model: String
    /// The field of theirs; nil only for a count of records.
    package var field: String?
    /// Which of their fields orders them, for `first`, `last` and `joined`; the key decides between
    /// equals, and alone when this is nil.
    package var order: String?
    /// What stands between texts that are joined; nil for all others.
    package var separator: String?
    /// Which records count for which target. Empty when `place` names the one target.
    package var match: [Match]
    /// The key of the one record that holds the aggregate of all.
    package var place: [SQLValue]?
    /// An SQL condition over the records that count; nil for all.
    package var condition: String?

    /// What several records come to. Checks nothing: opening a store does.
    package init(
      _ function: Function, model: String, field: String? = nil, order: String? = nil,
      separator: String? = nil, match: [Match], place: [SQLValue]? = nil, condition: String? = nil
    ) {
      self.function = function
      self.model = model
      self.field = field
      self.order = order
      self.separator = separator
      self.match = match
      self.place = place
      self.condition = condition
    }
  }

  /// Two fields of which each follows the other.
  package struct TwoWay: Hashable, Sendable, Codable {
    /// The other end; the binding's target is the right one.
    package var left: Field
    /// Which records of the two models belong together, `source` being the left one's; empty for
    /// two fields of one record. Each side's fields must be unique there.
    package var match: [Match]
    /// The SQL expression over the left record that the right end follows; nil for the field.
    package var forward: String?
    /// The SQL expression over the right record that the left end follows; nil for the field.
    package var backward: String?
    /// What happens when both ends were written.
    package var conflict: BindingConflict
    /// Which end is right when the binding is new, or is rebuilt.
    package var initially: BindingSide

    /// Two fields that follow each other. Checks nothing: opening a store does.
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
    var text = "\(function.rawValue)(\(field.map { "\(model).\($0)" } ?? model)"
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

/// What happens when one statement writes both ends unlike each other, or brings two records
/// together that differ.
public enum BindingConflict: String, Hashable, Sendable, Codable {
  case leftWins, rightWins
  /// The statement is refused.
  case abort
}

/// One of the two ends.
public enum BindingSide: String, Hashable, Sendable, Codable {
  case left, right
}
