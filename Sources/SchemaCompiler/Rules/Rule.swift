/// A rule that you can add to a file in use and drop again. It applies to every writer, including
/// the plain `sqlite3` shell.
///
/// A model's own ``FieldRule``s are CHECKs in its table, so changing them requires a rebuild of the
/// table. A rule is implemented beside the table, as triggers or a unique index. Adding, changing
/// and dropping it touches no record. A rule can also express what a CHECK cannot: conditions on
/// several records, or on the old value of a field.
///
/// The file's catalog stores its name, message and severity. Declare it with
/// ``Store/init(at:models:migrations:bindings:rules:validators:configuration:onError:)``, or add it
/// with ``Store/add(_:existingViolations:)``.
public struct Rule: Hashable, Sendable, Codable {
  /// The requirement on records.
  package enum Demand: Hashable, Sendable, Codable {
    /// Every one of the rule's fields has a value.
    case required
    /// An SQL expression over the record's columns is true or NULL, as in a CHECK. It may use
    /// deterministic built-in functions, but no subquery.
    case condition(sql: String)
    /// No two records have the same values in the rule's fields. NULL never equals NULL. With a
    /// condition, only the records that satisfy it are compared.
    case unique(where: String?)
    /// The rule's one field is NULL or names an existing record of that model by its single-field
    /// key. Unlike a foreign key, the rule is never deferred. When that record is deleted, the
    /// rule's only action is to reject the deletion.
    case reference(model: String)
    /// The rule's fields keep their inserted values.
    case immutable
    /// At most `count` records have the same values in the fields `per`; if `per` is empty, at most
    /// `count` records exist. Records with a NULL in these fields do not count.
    case countAtMost(count: Int, per: [String])
    /// The sum of the rule's one field is at most `limit` among records with the same values in
    /// `per`.
    case sumAtMost(limit: Double, per: [String])
    /// The rule's first field begins an interval that ends before its second field. It overlaps
    /// with no interval of another record with the same values in `per`.
    case noOverlap(per: [String])
  }

  /// Unique in the store, among declared rules too: `Track.perAlbum`.
  public var name: String
  /// The model whose records it concerns.
  public var model: String
  /// The names of the fields it concerns; empty for the whole record.
  public var fields: [String]
  /// The requirement, worded to follow the field's name: "must not be empty".
  public var message: String
  /// A sentence that says what to do when the rule is broken.
  public var remedy: String?
  /// Whether a write that breaks the rule is rejected, or kept and reported by checks.
  public var severity: Violation.Severity
  /// The requirement.
  package var demand: Demand

  /// Describes a rule without checking it; adding it checks it.
  ///
  /// - Parameter message: nil for a message that describes the demand.
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

  /// The kind of violation for breaking this rule.
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

  /// The message of SQLite's error, for every program: fields, message and name.
  package var refusal: String { "\(subject) \(message) (rule \(name))" }

  /// The message of SQLite's error when a referenced record is deleted.
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

  /// The violation for a record that breaks the rule, without its key.
  package var violation: Violation {
    Violation(
      kind: kind, model: model, fields: fields, rule: name, message: message,
      remedy: remedy ?? demand.remedy, severity: severity)
  }

  /// The violation for deleting a referenced record, without its key; nil for a rule that is not
  /// about a reference.
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
    case .countAtMost(let count, let per):
      let records = count == 1 ? "1 record" : "\(count) records"
      return per.isEmpty
        ? "must have at most \(records)" : "must not be the same in more than \(records)"
    case .sumAtMost(let limit, let per):
      let number = Int64(exactly: limit).map(String.init) ?? String(limit)
      return "must add up to at most \(number)\(each(per))"
    case .noOverlap(let per):
      let same = per.isEmpty ? "" : " with the same \(per.joined(separator: " and "))"
      return "must not overlap with another record\(same)"
    }
  }
}

extension Rule: CatalogEntry {}

/// What to do if stored records break a new rule.
public enum ExistingViolations: Hashable, Sendable {
  /// The rule is not added; the error lists the records.
  case refuse
  /// The rule is added, and the records are left unchanged.
  case keep
}
