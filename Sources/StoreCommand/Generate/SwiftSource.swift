import ModelStore

/// The models of a file as Swift source that opens the file without differences.
///
/// The order follows names and fields, so a change of the file is a small change of the text.
struct SwiftSource {
  /// How a model conforms.
  enum Form: String, CaseIterable {
    case codable
    case byHand = "by-hand"
  }

  enum Access: String, CaseIterable {
    case `internal`
    case `public`

    var prefix: String { self == .public ? "public " : "" }
  }

  private let description: StoreDescription
  private let form: Form
  private let access: Access
  private let names: SwiftNames
  /// What the source does not express, a sentence for each.
  private(set) var notes: [String]

  init(_ description: StoreDescription, form: Form, access: Access) {
    self.description = description
    self.form = form
    self.access = access
    names = SwiftNames(description.models)
    notes = names.notes
    let rows = description.models.filter { !$0.isDeclarable }.map(\.name)
    if !rows.isEmpty {
      notes.append(
        "These are structs of rows to read, and not models: \(rows.joined(separator: ", ")). "
          + "Another program made their tables, whose columns may hold values of any type.")
    }
    if !description.misfits.isEmpty {
      notes.append(
        "These fields hold values of other types than their own, so they are an SQLValue: "
          + "\(description.misfits.joined(separator: ", ")).")
    }
    let declarations = SwiftDeclarations(description, names)
    notes += declarations.omissions
    notes += description.validators.map { validator in
      "The validator \(validator.name) is Swift code, which the file does not contain."
    }
    text = ""
    text = whole(declarations)
  }

  /// The source.
  private(set) var text: String

  private func whole(_ declarations: SwiftDeclarations) -> String {
    var parts = [head]
    parts += description.models.map { model in
      model.isDeclarable
        ? SwiftModel(model, names, form, access, description.all).text
        : SwiftRow(model, names, access).text
    }
    parts.append(declarations.text(access))
    if description.models.contains(where: \.hasJSON) { parts.append(Self.jsonContent(access)) }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private var head: String {
    let needsFoundation = description.models.contains { model in
      model.fields.contains { Self.foundationTypes.contains(SwiftType.of($0, in: model)) }
    }
    let imports =
      needsFoundation ? ["import Foundation", "import ModelStore"] : ["import ModelStore"]
    let omitted = notes.map { "// \(SwiftText.comment($0))" }
    let title = "// Models of a store, written by `storecli generate swift`."
    return
      ([title] + (omitted.isEmpty ? [] : ["//"] + omitted) + [""]
      + (access == .public ? imports.map { "public \($0)" } : imports)).joined(separator: "\n")
  }

  private static let foundationTypes: Set<String> = ["Data", "Date", "Decimal", "URL", "UUID"]

  /// A type for any JSON, since the file does not say which type wrote it.
  private static func jsonContent(_ access: Access) -> String {
    let prefix = access.prefix
    return """
      /// Any JSON. Replace it by the type whose values a field holds.
      \(prefix)enum JSONContent: Codable, Hashable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case array([JSONContent])
        case object([String: JSONContent])

        \(prefix)init(from decoder: any Decoder) throws {
          let container = try decoder.singleValueContainer()
          if container.decodeNil() {
            self = .null
          } else if let value = try Self.value(Bool.self, in: container) {
            self = .boolean(value)
          } else if let value = try Self.value(Int64.self, in: container) {
            self = .integer(value)
          } else if let value = try Self.value(Double.self, in: container) {
            self = .real(value)
          } else if let value = try Self.value(String.self, in: container) {
            self = .string(value)
          } else if let value = try Self.value([JSONContent].self, in: container) {
            self = .array(value)
          } else {
            self = .object(try container.decode([String: JSONContent].self))
          }
        }

        /// Returns nil if the container holds a value of another type.
        private static func value<Value: Decodable>(
          _ type: Value.Type, in container: any SingleValueDecodingContainer
        ) throws -> Value? {
          do {
            return try container.decode(type)
          } catch is DecodingError {
            return nil
          }
        }

        \(prefix)func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          switch self {
          case .null: try container.encodeNil()
          case .boolean(let value): try container.encode(value)
          case .integer(let value): try container.encode(value)
          case .real(let value): try container.encode(value)
          case .string(let value): try container.encode(value)
          case .array(let value): try container.encode(value)
          case .object(let value): try container.encode(value)
          }
        }
      }
      """
  }
}

extension ModelSchema {
  fileprivate var hasJSON: Bool { isDeclarable && fields.contains { $0.type == .json } }
}
