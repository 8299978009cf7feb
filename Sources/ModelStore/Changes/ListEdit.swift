/// The kind of operation that one call of a list's editor made.
public enum ListOperationKind: String, Hashable, Sendable {
  /// The whole contents were assigned. The elements of the operation are those that were removed
  /// and added.
  case assign
  /// One or more elements were added at the end.
  case append
  /// An element was inserted at an index, or at the end.
  case insert
  /// The last element was removed.
  case removeLast
  /// The element at an index was removed.
  case remove
  /// Every element was removed.
  case removeAll
  /// Every occurrence of one element was removed.
  case removeEqual
  /// The element at an index was replaced by another element.
  case replace
  /// The elements at two indices were swapped.
  case exchange
  /// The element at an index was moved to another index.
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
  /// The elements that were added, removed or moved by the operation itself. Elements that only
  /// shifted are not included.
  let elements: [Occurrence]
  let oldCount: Int
  let newCount: Int
}

/// The identity of one record's list.
struct ListIdentity: Hashable, Sendable {
  /// The name of the slots' model.
  let model: String
  /// Equal for keys that name the same owner.
  let owner: RecordIdentity
}

/// The operations of the editors on one record's list in one transaction.
struct ListEdits: Hashable, Sendable {
  /// In order; nil when something other than an editor also changed the list, because the indices
  /// then do not add up.
  var operations: [ListEdit]? = []
  /// The slots that were moved by an operation, each with its current label, which may equal its
  /// old label. Slots that only got a new label to make room are not included.
  var moved: [Int64: Int64] = [:]

  /// The value for a list that something other than an editor changed.
  static let unknown = ListEdits(operations: nil)

  /// The maximum number of operations that are reported one by one. For more, only the difference
  /// is reported.
  static let operationCountMax = 1024

  /// - Parameter places: The new places of the slots that the operation moved.
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
