/// A binding whose triggers or values differ from its declaration.
///
/// Triggers are lost when a program rebuilds a table without them. Values drift when a program
/// writes a record in the meantime. ``Store/rebuildBindings()`` repairs both.
public struct BindingFinding: Hashable, Sendable {
  /// The binding's name.
  public let binding: String
  /// The differences of its triggers, tables and indexes; nil if there are none.
  public let drift: SchemaDrift?
  /// The number of records with a value that differs from the binding's; 0 if records were not
  /// compared.
  public let recordCount: Int
  /// The keys of the first of these records, in key order.
  public let keys: [[SQLValue]]
  /// Whether records were compared. They are not compared in these cases:
  ///
  /// - A table or column of the binding is missing.
  /// - The binding calls a function that this program does not have.
  /// - A value is too large to be read.
  public internal(set) var isCompared = true
  /// Why SQLite could not compare the records. It is nil if they were compared, and if the
  /// binding's own tables or functions are missing.
  package internal(set) var obstacle: Obstacle?

  /// The reason why SQLite cannot compare records.
  package enum Obstacle: Hashable, Sendable {
    /// The file lacks a table or column that the binding names. You can only drop the binding.
    case gone(String)
    /// This program's SQLite cannot read a table of the binding.
    case unreadable(String)

    /// The reason as a clause.
    package var reason: String {
      switch self {
      case .gone(let reason), .unreadable(let reason): reason
      }
    }
  }
}

extension BindingFinding.Obstacle {
  init(_ error: SQLiteError) {
    let isGone = ["no such table: ", "no such column: "].contains { error.message.hasPrefix($0) }
    if isGone {
      self = .gone(error.message)
    } else if let missing = MissingObject(error) {
      self = .unreadable("this program does not have \(missing.phrase)")
    } else if error.isWithoutSolution {
      self = .unreadable("this program does not have the collation of a key")
    } else if error.code.primary == .tooBig {
      self = .unreadable("a value of it is larger than this program reads")
    } else {
      self = .unreadable(error.message)
    }
  }
}

/// A two-way binding whose expressions are not inverses of each other.
///
/// This is not an error: the field that you write keeps its value, and the other field follows.
package struct LossyConversion: Hashable, Sendable {
  /// The binding's name.
  package let binding: String
  /// The number of records whose left field would change if it were computed from the right field.
  package let recordCount: Int
}
