/// What a `@Model` struct says, as plain text: all that printing needs, and no syntax tree.
struct ModelDescription {
  /// The struct's name as written, backticks included.
  var identifier: String
  /// The model's name.
  var name: String
  /// The access of what is generated; the compiler caps it at the struct's own.
  var access: AccessLevel
  /// The struct's `@available` attributes.
  var availability: [String]
  /// The table's name, an expression.
  var table: String
  /// In the order of the columns.
  var fields: [FieldDescription]
  /// The positions of the key's fields in ``fields``, in key order; at least one.
  var keyIndices: [Int]
  var lists: [ListDescription]
  /// Whether the struct's body has an initializer, so that no memberwise one is due.
  var declaresInitializer: Bool

  var keyFields: [FieldDescription] { keyIndices.map { fields[$0] } }

  /// The key's only field; nil for a composite key.
  var singleKey: FieldDescription? { keyIndices.count == 1 ? fields[keyIndices[0]] : nil }

  /// The key that SQLite assigns when a draft leaves it out: a single integer, which becomes the
  /// row number: <https://sqlite.org/lang_createtable.html#rowid>.
  var assignedKey: FieldDescription? {
    singleKey.flatMap { $0.isRowNumber ? $0 : nil }
  }

  /// Identifiable too where `id` is the key and as accessible as the conformance has to be.
  var conformances: [String] {
    guard let singleKey, singleKey.name == "id", singleKey.access >= access else {
      return ["ModelStore.Model"]
    }
    return ["ModelStore.Model", "Swift.Identifiable"]
  }
}

/// One stored property that is a column. Types, values and arguments are Swift text.
struct FieldDescription {
  /// The property's name as written, backticks included.
  var identifier: String
  /// The field's name.
  var name: String
  var type: String
  var isOptional: Bool
  var initialValue: String?
  var access: AccessLevel
  var isKey: Bool
  var isUnique: Bool
  var column: String?
  var defaultSQL: String?
  var collation: String?
  /// The arguments of the field's `ReferenceSchema`.
  var reference: String?
  var rules: [String]

  /// Whether the type is an integer that can be both a key and SQLite's row number.
  var isRowNumber: Bool {
    ["Int64", "Int", "Int32", "UInt32"].contains(plainType)
  }

  /// The type without the name of the module that it is known to come from.
  var plainType: Substring {
    for module in ["Swift.", "Foundation.", "FoundationEssentials."] where type.hasPrefix(module) {
      return type.dropFirst(module.count)
    }
    return type[...]
  }
}

/// One `@Ordered` property: a list that each record owns, and no column.
struct ListDescription {
  var identifier: String
  var name: String
  /// The type of the elements, Swift text.
  var element: String
  var hasInitialValue: Bool
}

/// How far a declaration is seen.
enum AccessLevel: Comparable {
  case `private`, `fileprivate`, `internal`, `package`, `public`

  /// What to write before a member of the model. A private member would be out of the draft's
  /// reach, so it is given to the file.
  var prefix: String {
    switch self {
    case .private, .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }
}
