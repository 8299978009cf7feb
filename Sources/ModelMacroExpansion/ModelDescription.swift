#if Macros
  /// The contents of a `@Model` struct as plain text: everything that printing needs, without a
  /// syntax tree.
  struct ModelDescription {
    /// The struct's name as written, backticks included.
    var identifier: String
    /// The model's name.
    var name: String
    /// The access of the generated members; the compiler limits it to the struct's own.
    var access: AccessLevel
    /// The struct's `@available` attributes.
    var availability: [String]
    /// The table's name, as an expression.
    var table: String
    /// The fields, in the order of the columns.
    var fields: [FieldDescription]
    /// The positions of the key's fields in ``fields``, in key order; at least one.
    var keyIndices: [Int]
    var lists: [ListDescription]
    /// Whether the struct's body has an initializer, so that no memberwise initializer is
    /// generated.
    var declaresInitializer: Bool

    var keyFields: [FieldDescription] { keyIndices.map { fields[$0] } }

    /// The key's only field; nil for a composite key.
    var singleKey: FieldDescription? { keyIndices.count == 1 ? fields[keyIndices[0]] : nil }

    /// The key that SQLite assigns when a draft leaves it out: a single integer, which becomes the
    /// row number: <https://sqlite.org/lang_createtable.html#rowid>.
    var assignedKey: FieldDescription? {
      singleKey.flatMap { $0.isRowNumber ? $0 : nil }
    }

    /// The conformances to generate. `Identifiable` is included if `id` is the key and as
    /// accessible as the conformance must be.
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

    /// The type without the name of its module.
    var plainType: Substring {
      for module in ["Swift.", "Foundation.", "FoundationEssentials."] where type.hasPrefix(module)
      {
        return type.dropFirst(module.count)
      }
      return type[...]
    }
  }

  /// One `@Ordered` property: a list that each record owns. It is not a column.
  struct ListDescription {
    var identifier: String
    var name: String
    /// The type of the elements, Swift text.
    var element: String
    var hasInitialValue: Bool
  }

  /// The access level of a declaration.
  enum AccessLevel: Comparable {
    case `private`, `fileprivate`, `internal`, `package`, `public`

    /// The modifier to write before a member of the model. The draft could not use a private
    /// member, so it becomes fileprivate.
    var prefix: String {
      switch self {
      case .private, .fileprivate: "fileprivate "
      case .internal: ""
      case .package: "package "
      case .public: "public "
      }
    }
  }
#endif
