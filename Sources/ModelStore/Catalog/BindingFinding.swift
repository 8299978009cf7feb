/// A binding that the file does not keep as its catalog says.
///
/// Triggers go missing when a program rebuilds a table without them; a value differs when a record
/// was written meanwhile. ``Store/rebuildBindings()`` mends both.
public struct BindingFinding: Hashable, Sendable {
  /// The binding's name.
  public let binding: String
  /// How its triggers, tables and indexes differ; nil where they are as they should be.
  public let drift: SchemaDrift?
  /// How many records do not hold the value that the binding gives them; 0 where they were not
  /// compared.
  public let recordCount: Int
  /// The keys of the first of them, in key order.
  public let keys: [[SQLValue]]
  /// Whether records were compared. Not where a table of the binding is missing, nor where it names
  /// what is not there any more or calls a function that this program does not have, nor where a
  /// value is too large to be read here.
  public internal(set) var isCompared = true
  /// Why SQLite could not compare the records; nil where they were compared, and where the
  /// binding's own tables or functions are missing.
  package internal(set) var obstacle: Obstacle?

  /// What keeps SQLite from comparing records.
  package enum Obstacle: Hashable, Sendable {
    /// The file lacks a table or column that the binding names. Only dropping the binding helps.
    case gone(String)
    /// SQLite cannot read a table of the binding here.
    case unreadable(String)

    /// What SQLite said, as a clause.
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

/// A two-way binding whose expressions do not undo each other.
///
/// That is no defect: the end that was written keeps what was written, and the other one follows.
package struct LossyConversion: Hashable, Sendable {
  /// The binding's name.
  package let binding: String
  /// How many records have a left end that would come back from the right one as another value.
  package let recordCount: Int
}
