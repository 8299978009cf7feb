/// A rule that is added to a file in use and can be dropped again, and that binds every writer, the
/// plain `sqlite3` shell included.
///
/// A model's own ``FieldRule``s stand in its table as CHECKs, which only a rebuild of the table
/// changes. A rule stands beside the table, as triggers or as a unique index, so that adding,
/// changing and dropping it touches no record. It can also say what a CHECK cannot: something about
/// several records, or about what a field was before.
///
/// Its name, message and severity are in the file's catalog. Declare it with
/// ``Store/init(at:models:migrations:bindings:rules:validators:configuration:onError:)``, or add it
/// with ``Store/add(_:existingViolations:)``.
public struct Rule: Hashable, Sendable, Codable {
  /// What records have to meet.
  package enum Demand: Hashable, Sendable, Codable {
    /// Every one of the rule's fields has a value.
    case required
    /// An SQL expression over the record's columns is true or NULL, as in a CHECK: deterministic
    /// functions that SQLite brings along, no subquery.
    case condition(sql: String)
    /// No two records have the same values in the rule's fields. NULL is never the same as NULL.
    /// With a condition, only among the records that meet it.
    case unique(where: String?)
    /// The rule's one field names an existing record of that model, by its key of one field, or is
    /// NULL. Unlike a foreign key it is never deferred and does nothing when that record goes
    /// but refuse.
    case reference(model: String)
    /// The rule's fields stay as they were inserted.
    case immutable
    /// There are at most so many records with the same values in the fields `per`; in all, when
    /// there are none. Records with a NULL there are not counted.
    case countAtMost(count: Int, per: [String])
    /// The rule's one field adds up to at most `limit` among records with the same values in `per`.
    case sumAtMost(limit: Double, per: [String])
    /// From the rule's first field up to, and not including, its second is an interval that
    /// overlaps with none of another record with the same values in `per`.
    case noOverlap(per: [String])
  }

  /// Unique in the store, among declared rules too: `Track.perAlbum`.
  public var name: String
  /// The model whose records it is about.
  public var model: String
  /// The names of the fields it is about; none when it is about the whole record.
  public var fields: [String]
  /// What is demanded, to follow the field's name: "must not be empty".
  public var message: String
  /// What to do when it is broken, a sentence.
  public var remedy: String?
  /// Whether a write that breaks it is refused, or kept and found later.
  public var severity: Violation.Severity
  /// What it demands.
  package var demand: Demand

  /// Describes a rule. Checks nothing: adding it does.
  ///
  /// - Parameter message: nil for one that says what the demand is.
  package init(
    _ name: String, of model: String, fields: [String] = [], _ demand: Demand,
    message: String? = nil, remedy: String? = nil, severity: Violation.Severity = .error
  ) {
    self.name = name
    self.model = model
    self.fields = fields
    self.message = message ?? demand.message(fields: fields)
    self.remedy = remedy
    self.severity = severity
    self.demand = demand
  }

  /// The kind of violation that breaking it is.
  public var kind: Violation.Kind {
    switch demand {
    case .required: .required
    case .condition: .check
    case .unique: .unique
    case .reference: .reference
    case .immutable: .immutable
    case .countAtMost, .sumAtMost, .noOverlap: .records
    }
  }

  /// What SQLite says when it refuses, to every program: fields, message and name.
  package var refusal: String { "\(subject) \(message) (rule \(name))" }

  /// What SQLite says when the record goes that another one refers to.
  package var refusalOfReferenced: String {
    if case .reference(let referenced) = demand {
      "\(referenced) is still referred to by \(subject) (rule \(name))"
    } else {
      refusal
    }
  }

  private var subject: String {
    switch fields.count {
    case 0: "\(model)"
    case 1: "\(model).\(fields[0])"
    default: "\(model) (\(fields.joined(separator: ", ")))"
    }
  }

  /// The violation that a record is, without its key.
  package var violation: Violation {
    Violation(
      kind: kind, model: model, fields: fields, rule: name, message: message,
      remedy: remedy ?? demand.remedy, severity: severity)
  }

  /// The violation that the going of a record is which another one refers to, without its key; nil
  /// for a rule that is about no reference.
  package var violationOfReferenced: Violation? {
    guard case .reference(let referenced) = demand else { return nil }
    return Violation(
      kind: .reference, model: referenced, rule: name,
      message: "is still referred to through \(model).\(fields[0])",
      remedy: "Delete or change those records first.", severity: severity)
  }
}

extension Rule.Demand {
  fileprivate var remedy: String {
    switch self {
    case .required: "Give it one."
    case .condition: "Change the value."
    case .unique: "Choose another value, or change the other record."
    case .reference: "Insert that record first, or name another."
    case .immutable: "Leave it as it was."
    case .countAtMost, .sumAtMost, .noOverlap: "Change the value, or the other records."
    }
  }

  fileprivate func message(fields: [String]) -> String {
    func each(_ per: [String]) -> String {
      per.isEmpty ? "" : " for each \(per.joined(separator: " and "))"
    }
    switch self {
    case .required: return "must have a value"
    case .condition(let sql): return "must meet \(sql)"
    case .unique(let condition):
      let among = condition.map { " where \($0)" } ?? ""
      return fields.count > 1 ? "must be unique together\(among)" : "must be unique\(among)"
    case .reference(let model): return "must name an existing \(model)"
    case .immutable: return "must not change"
    case .countAtMost(let count, let per): return "must be one of at most \(count)\(each(per))"
    case .sumAtMost(let limit, let per):
      let number = Int64(exactly: limit).map(String.init) ?? String(limit)
      return "must add up to at most \(number)\(each(per))"
    case .noOverlap(let per): return "must not overlap with another\(each(per))"
    }
  }
}

extension Rule: CatalogEntry {}

/// What becomes of a new rule that stored records break.
public enum ExistingViolations: Hashable, Sendable {
  /// The rule is not added; the error lists the records.
  case refuse
  /// The rule is added, and the records stay as they are.
  case keep
}
