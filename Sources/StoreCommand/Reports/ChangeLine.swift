import ModelStore
import RecordFormats

/// The changes of one origin to one record in a commit: one line of a report.
struct ChangeLine {
  /// One field before and after; nil where the record did not exist.
  struct Field {
    var name: String
    var old: SQLValue?
    var new: SQLValue?
  }

  var operation: RecordChange.Operation
  var model: String
  var key: [SQLValue]
  var fields: [Field]
  var origin: Origin
  /// The change that a binding or trigger reacted to; nil for others.
  var cause: Cause?
  /// Which fields are booleans and dates, to display them as such.
  var schema: ModelSchema?

  /// Whether a binding made the change.
  var isBound: Bool { if case .binding = origin { true } else { false } }

  /// The lines of a change set, in its order. An update by several origins has a line for each
  /// of them.
  static func lines(of changes: ChangeSet, in schema: StoreSchema) -> [ChangeLine] {
    changes.changes.flatMap { change in
      lines(of: change, schema.knownModel(named: change.model))
    }
  }

  private static func lines(of change: RecordChange, _ schema: ModelSchema?) -> [ChangeLine] {
    func line(_ fields: [Field], _ origin: Origin, _ cause: Cause?) -> ChangeLine {
      ChangeLine(
        operation: change.operation, model: change.model, key: change.key, fields: fields,
        origin: origin, cause: cause, schema: schema)
    }
    guard change.operation == .update else {
      let names = schema?.fields.map(\.name) ?? []
      let fields = names.indices.map { index in
        Field(name: names[index], old: change.old?[index], new: change.new?[index])
      }
      return [line(fields, change.origin, change.cause)]
    }
    var shown: [ChangedField] = []
    for field in change.fields where !shown.contains(where: field.hasProvenance) {
      shown.append(field)
    }
    return shown.map { first in
      line(
        change.fields.filter(first.hasProvenance)
          .map { Field(name: $0.name, old: $0.old, new: $0.new) }, first.origin, first.cause)
    }
  }
}

extension ChangedField {
  fileprivate func hasProvenance(of other: ChangedField) -> Bool {
    origin == other.origin && cause == other.cause
  }
}

extension Cause {
  /// The cause for programs.
  fileprivate var json: JSONValue {
    .object([
      .init("op", .string(operation.rawValue)), .init("model", .string(model)),
      .init("id", KeyText.json(key)), .init("fields", .array(fields.map { .string($0) })),
    ])
  }
}

extension ChangeLine {
  /// The line for programs.
  var json: JSONValue {
    let ends: [JSONValue.Member] =
      [.init("origin", .string(origin.description))]
      + (cause.map { [.init("cause", $0.json)] } ?? [])
    return .object(changeMembers + ends)
  }

  /// The change itself, for programs.
  var changeMembers: [JSONValue.Member] {
    [
      .init("op", .string(operation.rawValue)), .init("model", .string(model)),
      .init("id", KeyText.json(key)), .init("changes", changesJSON),
    ]
  }

  /// The fields before and after, by name.
  private var changesJSON: JSONValue { .object(fields.map { .init($0.name, json($0)) }) }

  private func json(_ field: Field) -> JSONValue {
    let schema = schema?.field(named: field.name)
    var members: [JSONValue.Member] = []
    if let old = field.old { members.append(.init("old", Self.json(old, schema))) }
    if let new = field.new { members.append(.init("new", Self.json(new, schema))) }
    return .object(members)
  }

  private static func json(_ value: SQLValue, _ field: FieldSchema?) -> JSONValue {
    field.map { JSONValue(value, in: $0) } ?? JSONValue(value)
  }

  /// How much of long values a text shows.
  enum Length {
    /// The first cells of a text, and the length of a blob.
    case short
    /// Texts in full, and the length of a blob.
    case whole
    /// Blobs in full, too, so that two values look alike only if they are.
    case exact
  }

  /// The line for a person, cut to `width` cells.
  ///
  /// - Parameter unseen: How much of long values it has if `width` is nil, because nobody sees the
  ///   line on a screen.
  func text(palette: Palette, width: Int?, unseen: Length = .whole) -> String {
    let doer = self.doer.map { "   (\($0))" } ?? ""
    var body = shownFields(width == nil ? unseen : .short).map { "  " + $0 }.joined()
    if let width {
      let room = width - 2 - DisplayWidth.of(title) - DisplayWidth.of(doer)
      body = DisplayWidth.truncated(body, to: max(room, 12))
    }
    return palette.symbol(meaning) + " " + palette.dressed(title, as: .identifier) + body
      + palette.dressed(doer, as: .hint)
  }

  /// The change in words: `done: no -> yes`, or `+ Todo 42  title: "Buy milk"`. It names the
  /// binding that made it.
  ///
  /// - Parameter showingRecord: Whether the record is named.
  func words(showingRecord: Bool, _ length: Length) -> String {
    var fields = shownFields(length).joined(separator: "  ")
    if case .binding(let name) = origin { fields += "  (binding \(CellText.visible(name)))" }
    if showingRecord {
      let title = "\(meaning.symbol) \(title)"
      return fields.isEmpty ? title : "\(title)  \(fields)"
    }
    let verb: String? =
      switch operation {
      case .insert: "inserted"
      case .update: fields.isEmpty ? "updated" : nil
      case .delete: "deleted"
      }
    return [verb, fields.isEmpty ? nil : fields].compactMap(\.self).joined(separator: "  ")
  }

  /// The record, then the values of each field before and after: a line for each, in full.
  func difference(palette: Palette) -> [String] {
    func side(_ meaning: Palette.Meaning, _ value: SQLValue?, _ field: Field) -> String? {
      guard let value, operation == .update || value != .null else { return nil }
      let name = CellText.visible(field.name)
      return palette.dressed(
        "\(meaning.symbol) \(name): \(text(value, field, .exact))", as: meaning)
    }
    let keys = operation == .update ? [] : Set(schema?.key ?? [])
    return [palette.symbol(meaning) + " " + palette.dressed(title, as: .identifier)]
      + fields.filter { !keys.contains($0.name) }.flatMap { field in
        [side(.removed, field.old, field), side(.added, field.new, field)].compactMap(\.self)
      }
  }

  private var title: String { "\(CellText.visible(model)) \(KeyText.text(key))" }

  private var meaning: Palette.Meaning {
    switch operation {
    case .insert: .added
    case .update: .changed
    case .delete: .removed
    }
  }

  /// What made the change, unless it was the command itself.
  private var doer: String? {
    switch origin {
    case .user: nil
    case .binding(let name): "binding \(CellText.visible(name))"
    case .cascade: "cascade"
    case .trigger(let name): "trigger \(CellText.visible(name))"
    case .foreign: "foreign"
    }
  }

  private func shownFields(_ length: Length) -> [String] {
    let keys = Set(schema?.key ?? [])
    return fields.compactMap { field in
      let name = CellText.visible(field.name)
      switch (field.old, field.new) {
      case (let old?, let new?):
        return "\(name): \(text(old, field, length)) -> \(text(new, field, length))"
      case (let value?, nil), (nil, let value?):
        guard value != .null, !keys.contains(field.name) else { return nil }
        return "\(name): \(text(value, field, length))"
      case (nil, nil): return nil
      }
    }
  }

  private func text(_ value: SQLValue, _ field: Field, _ length: Length) -> String {
    let schema = schema?.field(named: field.name)
    let shown = schema.map { FieldColumns.shown(value, $0) } ?? value
    if length == .exact, case .blob = shown { return shown.description }
    guard case .text(let text) = shown else {
      return CellText.display(CellValue(shown), as: schema?.type == .boolean ? .truth : .stored)
    }
    let visible = CellText.visible(text)
    if schema?.type == .date { return visible }
    let part =
      length == .short ? DisplayWidth.truncated(visible, to: Self.textWidthMax) : visible
    return "\"\(part)\""
  }

  /// Cells of a text shown within a line on a screen.
  private static let textWidthMax = 60
}
