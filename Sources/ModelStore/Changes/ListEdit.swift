/// What one call of a list's editor did.
public enum ListOperationKind: String, Hashable, Sendable {
  /// Other contents were given to the list; the elements named are those that left and came.
  case assign
  /// One or several elements were added at the end.
  case append
  /// An element was put at an index, be it the end.
  case insert
  /// The last element was removed.
  case removeLast
  /// The element at an index was removed.
  case remove
  /// Every element was removed.
  case removeAll
  /// Every occurrence of one element was removed.
  case removeEqual
  /// The element at an index gave way to another one.
  case replace
  /// The elements at two indices changed places.
  case exchange
  /// The element at an index was given another one.
  case move
}

/// One call of a list's editor, with indices in the list as it was before and after that call.
struct ListEdit: Hashable, Sendable {
  struct Occurrence: Hashable, Sendable {
    let element: SQLValue
    /// nil when it was not in the list before.
    let oldIndex: Int?
    /// nil when it is not in the list after.
    let newIndex: Int?
  }

  let kind: ListOperationKind
  /// Those that came, left or got another index by intent; not those that slid.
  let elements: [Occurrence]
  let oldCount: Int
  let newCount: Int
}

/// Which record's list.
struct ListIdentity: Hashable, Sendable {
  /// The name of the slots' model.
  let model: String
  /// Equal for keys that name the same owner.
  let owner: SortKey
}

/// What the editors of one transaction did to one record's list.
struct ListEdits: Hashable, Sendable {
  /// In order; nil when something else than an editor changed the list too, so that their indices
  /// do not add up.
  var operations: [ListEdit]? = []
  /// The slots that got another place by intent, as opposed to another label to make room, each
  /// with the label it has now; that may be the one it had before.
  var moved: [Int64: Int64] = [:]

  /// For a list that something else than an editor changed.
  static let unknown = ListEdits(operations: nil)

  /// The most calls of editors that are told together; with more, only the difference is told.
  static let operationCountMax = 1024

  /// - Parameter places: What the slots that were moved by intent have got.
  mutating func add(_ edit: ListEdit, moving places: [ListPlace]) {
    guard let count = operations?.count else { return }
    guard count < Self.operationCountMax else {
      self = .unknown
      return
    }
    operations?.append(edit)
    for place in places { moved[place.slot] = place.label }
  }
}
