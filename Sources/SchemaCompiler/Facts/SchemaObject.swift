/// A table, index or trigger that the store creates in a file.
package struct SchemaObject: Hashable, Sendable {
  /// In the order in which objects are created. They are dropped in the reverse order, because
  /// triggers name tables.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case table, index, trigger
  }

  package typealias Owner = SchemaDrift.Owner

  package let kind: Kind
  package let name: String
  /// The owner that it was created for; nil if the name of an object in a file does not contain
  /// one.
  package let owner: Owner?
  /// The text exactly as in `sqlite_schema`.
  package let sql: String
  /// The table to which it belongs, if the object was read from a file.
  package var table = ""

  /// Creates an object that a file should have.
  package init(kind: Kind, name: String, owner: Owner, sql: String) {
    self.kind = kind
    self.name = name
    self.owner = owner
    self.sql = sql
  }

  /// Creates an object of a file. Its owner is determined from its name.
  package init(kind: Kind, name: String, sql: String, table: String = "") {
    self.kind = kind
    self.name = name
    owner = Owner(ofObject: name, kind)
    self.sql = sql
    self.table = table
  }

  /// The identity of an object in a file. SQLite allows a trigger with the name of an index or
  /// table.
  package struct Identity: Hashable, Sendable {
    package let kind: Kind
    package let name: ExactText
  }

  package var identity: Identity { Identity(kind: kind, name: ExactText(name)) }
}

extension SchemaDrift.Owner {
  /// The prefix of the name of every trigger of the change journal.
  package static let journalPrefix = "_ms_journal_"

  /// Returns the owner of the object called `name`, if the store created it. For the journal, the
  /// owner's name is empty if the trigger's name contains no model.
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

/// The store's own objects in a file, to compare with the objects that it should have.
package struct InstalledObjects: Sendable {
  /// By name.
  package let objects: [SchemaObject]
  private let byIdentity: [SchemaObject.Identity: SchemaObject]

  package init(_ objects: [SchemaObject]) {
    self.objects = objects
    byIdentity = Dictionary(objects.map { ($0.identity, $0) }) { first, _ in first }
  }

  /// Returns the object of that kind and name; nil when the file has none.
  package subscript(identity: SchemaObject.Identity) -> SchemaObject? { byIdentity[identity] }

  /// Returns whether the file has the object with exactly the same text.
  package func holds(_ object: SchemaObject) -> Bool {
    self[object.identity]?.sql.isExactly(object.sql) ?? false
  }
}
