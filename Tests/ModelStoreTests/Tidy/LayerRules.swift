/// What a folder of the library is, and which others it may name.
struct Layer: Sendable {
  /// Under `Sources/ModelStore/`. A folder inside another is a layer of its own where it is listed.
  let folder: String
  /// What it is, for people.
  let contents: String
  /// The layers that it may name in addition to itself.
  let knows: Set<String>

  init(_ folder: String, _ contents: String, knows: String...) {
    self.folder = folder
    self.contents = contents
    self.knows = Set(knows)
  }

  init(_ folder: String, _ contents: String, knowsAllOf others: [Layer], and more: String...) {
    self.folder = folder
    self.contents = contents
    knows = Set(others.map(\.folder) + more)
  }

  func mayName(_ other: String) -> Bool {
    other == folder || other == Self.everywhere || knows.contains(other)
  }

  /// Stands for what every layer may name.
  static let everywhere = "*"
}

/// Which folders of the library may name which others.
extension Project {
  /// Lowest first.
  static let layers: [Layer] = records + transactions + [past, sharing, observation, gates] + engine

  /// Values of records and how they come from a file.
  private static let records = [
    Layer("SQLite", "connections, statements, rows, files; the only importer of `CSQLite`"),
    Layer("Ordering", "values as bytes in SQLite's order; a sorted set that counts"),
    Layer(
      "Changes", "what a transaction did, as values; capture as a state machine",
      knows: "SQLite", "Ordering"),
    Layer(
      "Models",
      "the `Model` protocol, column values, typed rules and bindings, records and changes",
      knows: "SQLite", "Changes"),
    Layer(
      "Queries", "predicates, orders, queries, their SQL, their text form, their evaluation",
      knows: "SQLite", "Ordering", "Models"),
    Layer(
      "Catalog", "reading the facts of a file; migrations, and bringing a file in line",
      knows: "SQLite"),
    Layer(
      "Journal", "the change journal: its triggers, rows, readers and trimming; other processes",
      knows: "SQLite", "Changes", "Catalog"),
    Layer(
      "Monitoring", "what a store reports to logs, metrics and traces, and the times it measures",
      knows: "SQLite", "Journal"),
  ]

  /// What runs inside a transaction. These layers know each other, and none that opens a
  /// transaction.
  private static let transactions = [
    Layer(
      "Engine/Transactions", "connection queues, reader pool, transactions, capture",
      knowsAllOf: records, and: "Validation", "Lists"),
    Layer(
      "Validation", "validators, the records that break a rule, explanations of refusals",
      knowsAllOf: records, and: "Engine/Transactions"),
    Layer(
      "Lists", "ordered lists: their editor, labels and statements", knowsAllOf: records,
      and: "Engine/Transactions"),
  ]

  private static let past = Layer(
    "Journal/Past", "records as they were, and taking a transaction back", knowsAllOf: records,
    and: "Engine/Transactions")

  private static let sharing = Layer(
    "Sharing", "members of a shared store: the ledger, records of commits, turns, applying",
    knowsAllOf: records, and: "Engine/Transactions")

  private static let observation = Layer(
    "Observation", "routing commits (`Broker/`), live results (`Live/`), records (`Records/`)",
    knows: "SQLite", "Ordering", "Changes", "Models", "Queries", "Monitoring")

  private static let gates = Layer(
    "Validation/Gates", "conditions with one verdict, which forms and drafts observe",
    knows: "SQLite", "Models", "Queries", "Observation")

  private static let engine = [
    Layer(
      "Engine", "the write cycle, foreign commits, upkeep, the schema in effect",
      knowsAllOf: records + transactions + [sharing, observation], and: "Engine/Editing"),
    Layer(
      "Engine/Editing", "changing models, bindings and rules of a file",
      knowsAllOf: records + transactions, and: "Engine"),
    Layer(
      "Journal/Consumers", "durable readers of the journal",
      knowsAllOf: records + transactions, and: "Engine"),
  ]

  /// Files beside the folders, which may be named in all of them.
  static let sharedFiles: Set<String> = ["StoreConfiguration.swift"]

  /// The layer of a file: the longest folder that contains it. Empty for files beside the folders,
  /// and ``Layer/everywhere`` for the schema compiler, which is a separate module.
  static func layer(of file: SourceText) -> String {
    let library = "Sources/ModelStore"
    guard (file.folder + "/").hasPrefix(library + "/"), !sharedFiles.contains(file.name) else {
      return Layer.everywhere
    }
    let folder = file.folder.dropFirst(library.count + 1)
    return layers.map(\.folder).filter { folder == $0 || folder.hasPrefix($0 + "/") }
      .max { $0.count < $1.count } ?? ""
  }

  static let everyFolderIsALayer: Rule = { project in
    project.swift(under: "Sources/ModelStore").compactMap { file in
      guard file.folder != "Sources/ModelStore", layer(of: file) == "" else { return nil }
      let folder = file.path.split(separator: "/")[2]
      return Finding(path: file.path, line: 1, message: "\(folder) has no place among the layers")
    }
  }

  static let lowerNeverNamesHigher: Rule = { project in
    let names = LayeredNames(project)
    let library = project.swift(under: "Sources/ModelStore")
    return layers.flatMap { layer in
      library.filter { Project.layer(of: $0) == layer.folder }
        .flatMap { names.breaches(in: $0, of: layer) }
    }
  }
}

/// The layers as a table for people.
extension Project {
  static var layerTable: [String] {
    let rows = layers.indices.map { index in
      let layer = layers[index]
      return
        "| `\(layer.folder)/` | \(layer.contents) | \(layer.known(besides: layers[..<index])) |"
    }
    return [
      "| Folder | What it is | Knows |", "|---|---|---|",
      "| module `SchemaCompiler` | names, SQL text, models, rules and bindings, as SQL objects; no connection | |",
    ] + rows + ["| beside the folders | `Store`, the public interface, by topic | all above |"]
  }
}

extension Layer {
  /// What it may name, in words, when `above` come before it.
  func known(besides above: some Sequence<Layer>) -> String {
    let above = above.map(\.folder)
    let unknown = above.filter { !knows.contains($0) }
    let below = knows.subtracting(above).sorted()
    guard unknown.count * 2 < above.count else {
      return (above.filter(knows.contains) + below).joined(separator: ", ")
    }
    let most = unknown.isEmpty ? "all above" : "all above except \(unknown.joined(separator: ", "))"
    return ([most] + below).joined(separator: "; ")
  }
}

/// Which layer declares which types, and which members it adds to types of others.
private struct LayeredNames {
  private var types: [String: String] = [:]
  /// By name, the layers that declare such a member for types of other layers and modules.
  private var additions: [String: Set<String>] = [:]
  /// By name, the layers in which something is called so.
  private var declarations: [String: Set<String>] = [:]

  init(_ project: Project) {
    let files = ["Sources/ModelStore", "Sources/SchemaCompiler"]
      .flatMap { project.swift(under: $0) }
      .map { (text: $0, layer: Project.layer(of: $0)) }
    for file in files where file.layer != Layer.everywhere {
      for type in file.text.declaredTypes { types[type.text] = file.layer }
    }
    for file in files {
      for name in file.text.declaredNames { declarations[name, default: []].insert(file.layer) }
      for member in file.text.extensionMembers where types[member.type] != file.layer {
        additions[member.name, default: []].insert(file.layer)
      }
    }
  }

  func breaches(in file: SourceText, of layer: Layer) -> [Project.Finding] {
    // A nested type may have the name of another layer's type.
    let nested = Set(file.types.map(\.text))
    let own = file.declaredNames.union(file.labels)
    return file.tokens.indices.compactMap { index in
      let token = file.tokens[index]
      let isMember = index > 0 && file.tokens[index - 1].text == "."
      let owner: String?
      if !isMember, let type = types[token.text] {
        owner = nested.contains(token.text) || layer.mayName(type) ? nil : type
      } else {
        let isCall = index + 1 < file.tokens.count && file.tokens[index + 1].text == "("
        owner = isMember || isCall && !own.contains(token.text) ? adder(token.text, layer) : nil
      }
      return owner.map { owner in
        Project.Finding(
          path: file.path, line: token.line,
          message: "\(layer.folder)/ names \(token.text), which is "
            + (owner.isEmpty ? "the store's" : "\(owner)/'s"))
      }
    }
  }

  /// Names that types of Swift have too, so a word does not show whose member it is.
  private static let swiftNames: Set = ["drop", "lowerBound", "quotientAndRemainder"]

  /// The layer that adds a member of this name, where only layers that `layer` may not name have
  /// anything of this name.
  private func adder(_ name: String, _ layer: Layer) -> String? {
    guard let adders = additions[name], !Self.swiftNames.contains(name),
      !declarations[name, default: []].contains(where: layer.mayName)
    else { return nil }
    return adders.min()
  }
}
