/// A part of a file's schema that differs from the file's catalog or the declared models.
///
/// Other programs cause drift. For example, a program that rebuilds a table drops its triggers, and
/// a bound value or a rule is no longer kept up to date.
///
/// One value holds all differences of one owner, because one repair ends them together.
public struct SchemaDrift: Hashable, Sendable, Codable {
  /// The owner of a table, index, trigger or column.
  public enum Owner: Hashable, Sendable, Codable {
    /// The table, columns and indexes of a model.
    case model(String)
    /// The triggers, tables and indexes of a binding.
    case binding(String)
    /// The triggers, table and index of a rule that was added to a model.
    case rule(String)
    /// The triggers that record the changes of a model in the change journal.
    case journal(model: String)
  }

  /// A kind of owner.
  package enum Part: String, Hashable, Sendable, Codable, CaseIterable {
    /// Tables, columns and indexes of models.
    case models
    /// The objects of bindings.
    case bindings
    /// The objects of added rules.
    case rules
    /// The triggers of the change journal.
    case journal
  }

  /// One table, index, trigger or column that differs.
  package struct Difference: Hashable, Sendable, Codable {
    /// The kind of thing that differs.
    package enum Subject: String, Hashable, Sendable, Codable {
      /// A table or view.
      case table
      /// An index.
      case index
      /// A trigger.
      case trigger
      /// A column of the owner's table.
      case column
    }

    /// How it differs.
    package enum Reason: String, Hashable, Sendable, Codable {
      /// The file does not have it.
      case missing
      /// The file has it with another definition.
      case changed
      /// The file has it, but neither the catalog nor the models contain it.
      case unexpected
      /// A trigger that is older than another trigger of its table, so that SQLite runs the two in
      /// the wrong order.
      case misplaced
      /// A table of a binding with wrong totals in its rows.
      case outdated
      /// The file has it with the correct definition, but it names a table or column that is gone.
      case unusable
    }

    /// What differs.
    package var subject: Subject
    /// The name of the object or column.
    package var name: String
    /// How it differs.
    package var reason: Reason
    /// A full sentence about the difference; nil if subject, name and reason describe it
    /// completely.
    package var sentence: String?

    /// Creates a difference.
    package init(_ subject: Subject, _ name: String, _ reason: Reason, sentence: String? = nil) {
      self.subject = subject
      self.name = name
      self.reason = reason
      self.sentence = sentence
    }
  }

  /// The owner of the differing objects.
  public var owner: Owner
  /// The differences. Empty if the owner itself names a model or field that the file no longer has,
  /// so that you can only drop it.
  package var differences: [Difference]

  /// Creates the drift of one owner.
  package init(_ owner: Owner, _ differences: [Difference]) {
    self.owner = owner
    self.differences = differences
  }

  /// The names of the tables, indexes and triggers that differ, sorted. A table with differing
  /// columns is included only if it differs itself.
  public var objects: [String] {
    Set(differences.filter { $0.subject != .column }.map(\.name)).sorted()
  }

  /// One full sentence for each table, index, trigger or column that differs.
  public var sentences: [String] {
    differences.map { difference in
      difference.sentence
        ?? "The \(difference.subject.rawValue) \(difference.name) is \(difference.reason.rawValue)."
    }
  }
}

extension SchemaDrift.Owner {
  /// The part of the schema that the owner is in.
  package var part: SchemaDrift.Part {
    switch self {
    case .model: .models
    case .binding: .bindings
    case .rule: .rules
    case .journal: .journal
    }
  }

  /// The name of the model, binding or rule.
  public var name: String {
    switch self {
    case .model(let name), .binding(let name), .rule(let name), .journal(let name): name
    }
  }
}
