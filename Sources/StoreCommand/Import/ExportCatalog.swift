import ModelStore
import RecordFormats

/// The file `catalog.json` of a directory that `export --all` wrote: its models, each after those
/// that it refers to, and the hashes of their records.
struct ExportCatalog {
  static let fileName = "catalog.json"
  private static let format: Int64 = 1

  /// The records of one model.
  struct Entry {
    let name: String
    /// The name of the file in the directory.
    let file: String
    let recordCount: Int
    let hash: ContentHash
  }

  let entries: [Entry]

  /// Reads the catalog in `directory`.
  ///
  /// - Throws: ``CommandError``.
  init(of directory: String, from inputs: InputFiles) throws {
    let path = "\(directory)/\(Self.fileName)"
    func wrong(_ reason: String, hint: String? = nil) -> CommandError {
      CommandError(.failed, code: "input", "\(path) \(reason).", hint: hint)
    }
    let value: JSONValue?
    do {
      var reader = JSONRecordReader(source: try inputs.source(path), framing: .array)
      value = try reader.readRecord()
    } catch {
      guard case .unreadable(let system) = error.problem, system.isNoSuchFile else {
        throw CommandError(error).naming(path)
      }
      throw CommandError(
        .notFound, code: "input",
        "\(directory) has no \(Self.fileName): no export --all has ended there.",
        hint: "name the files to import, such as \(Shell.quoted(directory))/*.ndjson")
    }
    guard let value, value["format"] == .integer(Self.format) else {
      throw wrong("is of a version that this program does not know", hint: "update storecli")
    }
    guard case .array(let models)? = value["models"] else { throw wrong("has no list of models") }
    entries = try models.map { model in
      guard case .string(let name)? = model["name"], case .string(let file)? = model["file"],
        case .integer(let count)? = model["records"], case .string(let hash)? = model["hash"],
        let hash = ContentHash(hash), !file.contains("/"), !file.hasPrefix(".")
      else { throw wrong("has an entry that cannot be read") }
      return Entry(name: name, file: file, recordCount: Int(count), hash: hash)
    }
    guard !entries.isEmpty else { throw wrong("lists no models") }
  }

  /// Compares the imported records with the exported ones, where the store has no others.
  ///
  /// - Parameter schemas: The models of ``entries``, in the same order.
  /// - Throws: ``CommandError`` for the first model whose records differ.
  func check(_ schemas: [ModelSchema], _ transaction: borrowing WriteTransaction) throws {
    for (entry, schema) in zip(entries, schemas) {
      let query = StoreQuery<DynamicRecord>(schema)
      guard try transaction.count(query) == entry.recordCount,
        try transaction.contentHash(of: query) != entry.hash
      else { continue }
      throw CommandError(
        .rejected, code: "hash",
        "The imported records of \(entry.name) are not those that were exported: "
          + "\(entry.file) was changed, or a binding, trigger or default of this store "
          + "changed them.",
        hint: "to import a changed file, name it instead of the directory", model: entry.name)
    }
  }

  /// The models in an order in which each comes after those that it refers to, as far as references
  /// form no circle; otherwise by name.
  static func ordered(_ models: [ModelSchema]) -> [ModelSchema] {
    var waiting = models.sorted { $0.name.isBefore($1.name) }
    var ordered: [ModelSchema] = []
    while !waiting.isEmpty {
      let tables = Set(waiting.map { $0.table.asciiFolded })
      let next =
        waiting.firstIndex { model in
          !model.fields.contains { field in
            let table = field.reference?.table.asciiFolded
            return table.map { $0 != model.table.asciiFolded && tables.contains($0) } ?? false
          }
        } ?? 0
      ordered.append(waiting.remove(at: next))
    }
    return ordered
  }

  /// The name of a model's file: letters, digits and a few signs stay, all others are `%` and
  /// hexadecimal digits. Names that differ only in case get different files.
  static func fileName(for model: String, besides taken: Set<String>) -> String {
    let name = model.utf8.reduce(into: "") { name, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "."), UInt8(ascii: " "):
        if name.isEmpty { fallthrough }
        name.unicodeScalars.append(Unicode.Scalar(byte))
      default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    var candidate = name
    var number = 1
    while taken.contains(candidate.lowercased()) {
      number += 1
      candidate = "\(name)~\(number)"
    }
    return candidate + ".ndjson"
  }

  /// The text of the file, with one model on each line.
  ///
  /// - Parameter hash: The content hash of the store.
  static func text(
    of entries: [(entry: Entry, schema: ModelSchema)], hash: ContentHash
  ) throws -> String {
    let lines = try entries.map { entry, schema in
      let head = try JSONText.text(
        .object([
          .init("name", .string(entry.name)), .init("file", .string(entry.file)),
          .init("records", .integer(Int64(entry.recordCount))),
          .init("hash", .string(entry.hash.description)),
        ]))
      return head.dropLast() + ",\"schema\":\(try CatalogText.text(of: schema))}"
    }
    return "{\"format\":\(format),\"hash\":\"\(hash)\",\"models\":[\n"
      + lines.joined(separator: ",\n") + "\n]}\n"
  }
}

extension JSONValue {
  /// The member of an object called `name`.
  fileprivate subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

extension String {
  /// Whether its bytes sort before those of `other`.
  fileprivate func isBefore(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
