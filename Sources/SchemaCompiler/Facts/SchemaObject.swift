/// A table, index or trigger that the store makes in a file.
package struct SchemaObject: Hashable, Sendable {
  /// In the order in which objects are created. They are dropped in the reverse order, because
  /// triggers name tables.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case table, index, trigger
  }

  package typealias Owner = SchemaDrift.Owner

  package let kind: Kind
  package let name: String
  /// What it was made for; nil where the name of an object in a file does not say so.
  package let owner: Owner?
  /// Exactly as `sqlite_schema` holds it.
  package let sql: String
  /// The table to which it belongs, where it was read from a file.
  package var table = ""

  /// An object that a file should have.
  package init(kind: Kind, name: String, owner: Owner, sql: String) {
    self.kind = kind
    self.name = name
    self.owner = owner
    self.sql = sql
  }

  /// An object of a file, which belongs to what its name says.
  package init(kind: Kind, name: String, sql: String, table: String = "") {
    self.kind = kind
    self.name = name
    owner = Owner(ofObject: name, kind)
    self.sql = sql
    self.table = table
  }

  /// What a file has once at most: SQLite lets a trigger have the name of an index or table.
  package struct Identity: Hashable, Sendable {
    package let kind: Kind
    package let name: ExactText
  }

  package var identity: Identity { Identity(kind: kind, name: ExactText(name)) }
}

extension SchemaDrift.Owner {
  /// How the name of every trigger of the change journal begins.
  package static let journalPrefix = "_ms_journal_"

  /// What the object called `name` was made for, if the store made it. The journal's owner has an
  /// empty name where the name of a trigger does not contain a model.
  init?(ofObject name: String, _ kind: SchemaObject.Kind) {
    if let binding = BindingTriggers.bindingName(ofTrigger: name) {
      self = .binding(binding)
    } else if RuleObjects.isName(name) {
      self = .rule(RuleObjects.ruleName(ofObject: name, kind))
    } else if kind == .trigger, name.hasPrefix(Self.journalPrefix) {
      let end = name.lastIndex(of: "_") ?? name.endIndex
      let start = name.index(name.startIndex, offsetBy: Self.journalPrefix.count)
      self = .journal(model: start < end ? String(name[start..<end]) : "")
    } else {
      return nil
    }
  }
}

/// The store's own objects that a file has, to be compared with those that it should have.
package struct InstalledObjects: Sendable {
  /// By name.
  package let objects: [SchemaObject]
  private let byIdentity: [SchemaObject.Identity: SchemaObject]

  package init(_ objects: [SchemaObject]) {
    self.objects = objects
    byIdentity = Dictionary(objects.map { ($0.identity, $0) }) { first, _ in first }
  }

  /// The object of that kind and name; nil when the file has none.
  package subscript(identity: SchemaObject.Identity) -> SchemaObject? { byIdentity[identity] }

  /// Whether the file has the object in the same words.
  package func holds(_ object: SchemaObject) -> Bool {
    self[object.identity]?.sql.isExactly(object.sql) ?? false
  }
}
