import ModelStore
import RecordFormats

/// The rule that the words of `rules add` describe.
struct RuleWords {
  let demand: RuleDemand
  /// `--per`.
  var group: String?
  /// `--where`.
  var condition: String?

  /// - Throws: ``CommandError`` for an unknown field or model, with near misses, and for words that
  ///   are not a range or number, or do not fit the field.
  func rule(for schema: ModelSchema, in opened: OpenedStore) throws -> Rule {
    let per = try group.map { try names($0, of: schema) } ?? []
    switch demand {
    case .required(let words):
      return rule("required", of: try names(words, of: schema), in: schema, .required)
    case .unique(let words):
      return rule(
        "unique", of: try names(words, of: schema), in: schema, .unique(where: condition))
    case .immutable(let words):
      return rule("immutable", of: try names(words, of: schema), in: schema, .immutable)
    case .check(let sql): return rule("check", of: [], in: schema, .condition(sql: sql))
    case .references(let words):
      let (field, name) = try pair(words, of: schema)
      let referenced = try opened.model(named: name)
      return rule("exists", of: [field.name], in: schema, .reference(model: referenced.name))
    case .atMost(let count):
      guard count >= 0 else { throw wrong("takes 0 or more; got \(count)") }
      return rule("count", of: per, in: schema, .countAtMost(count: count, per: per))
    case .sum(let words):
      let (field, text) = try numericPair(words, of: schema)
      return rule(
        "sum", of: [field.name], in: schema, .sumAtMost(limit: try limit(text), per: per))
    case .noOverlap(let words):
      let fields = try names(words, of: schema)
      guard fields.count == 2 else { throw wrong("takes two fields; got \(words)") }
      return rule("noOverlap", of: fields, in: schema, .noOverlap(per: per))
    case .length(let words):
      let (field, text) = try pair(words, of: schema)
      return Rule.field(field, of: schema, try length(text))
    case .bytes(let words):
      let (field, text) = try pair(words, of: schema)
      return Rule.field(field, of: schema, try byteLength(text))
    case .range(let words):
      let (field, text) = try numericPair(words, of: schema)
      return Rule.field(field, of: schema, try range(text, of: field))
    case .oneOf(let words):
      let (field, text) = try pair(words, of: schema)
      return try oneOf(list(text), field, schema)
    case .like(let words):
      let (field, pattern) = try pair(words, of: schema)
      return Rule.field(field, of: schema, .matches(like: pattern))
    case .glob(let words):
      let (field, pattern) = try pair(words, of: schema)
      return Rule.field(field, of: schema, .matches(glob: pattern))
    }
  }

  /// A rule named as ``Rule/field(_:of:_:severity:)`` names those of one field.
  private func rule(
    _ label: String, of fields: [String], in schema: ModelSchema, _ demand: Rule.Demand
  ) -> Rule {
    let parts = [schema.name, fields.joined(separator: "-"), label].filter { !$0.isEmpty }
    return Rule(parts.joined(separator: "."), of: schema.name, fields: fields, demand)
  }

  // Conditions on one field

  private func length(_ text: String) throws -> FieldRule {
    switch try counts(text) {
    case .from(let low): .length(low...)
    case .through(let high): .length(...high)
    case .between(let range): .length(range)
    }
  }

  private func byteLength(_ text: String) throws -> FieldRule {
    switch try counts(text) {
    case .from: throw wrong("takes an upper bound; got \(text)")
    case .through(let high): .byteLength(...high)
    case .between(let range): .byteLength(range)
    }
  }

  private func range(_ text: String, of field: FieldSchema) throws -> FieldRule {
    let numbers = text.split(separator: "..")
    let isWhole = numbers.allSatisfy { Int($0) != nil }
    let isFractional = numbers.contains { $0.contains { ".eE".contains($0) } }
    // Beyond 64 bits there are only reals.
    guard isWhole || field.type == .integer && !isFractional else {
      return Self.rule(try bounds(text) { Double($0).flatMap { $0.isFinite ? $0 : nil } })
    }
    return Self.rule(try bounds(text) { Int($0) })
  }

  private static func rule<Number: _RuleNumber>(_ bounds: Bounds<Number>) -> FieldRule {
    switch bounds {
    case .from(let low): .range(low...)
    case .through(let high): .range(...high)
    case .between(let range): .range(range)
    }
  }

  /// Values as the field stores them; for a field of any type, a number also means its text.
  private func oneOf(
    _ texts: [String], _ field: FieldSchema, _ schema: ModelSchema
  ) throws -> Rule {
    let values = try texts.flatMap { (text) throws -> [SQLValue] in
      do throws(StoreError) {
        let value = try field.parse(text)
        guard field.type == .any, case .text = value else { return [value] }
        return [value] + (Self.number(text).map { [$0] } ?? [])
      } catch {
        throw wrong("does not fit \(field.name): \(error.message)")
      }
    }
    var rule = Rule.field(field, of: schema, .oneOf(values: values))
    let shown = texts.map { $0.isEmpty ? "''" : $0 }.joined(separator: ", ")
    rule.message = "must be one of: \(shown)"
    return rule
  }

  private static func number(_ text: String) -> SQLValue? {
    if let whole = Int64(text) { return .integer(whole) }
    return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
  }

  /// A sum is compared with a real.
  private func limit(_ text: String) throws -> Double {
    guard let limit = Double(text), limit.isFinite else {
      throw wrong("takes a number; got \(text)")
    }
    if let whole = Int64(text), Int64(exactly: limit) != whole {
      throw wrong("takes a limit that a 64-bit real keeps exactly; got \(text)")
    }
    return limit
  }
}

// Parsing words.
extension RuleWords {
  private enum Bounds<Number: Comparable> {
    case from(Number)
    case through(Number)
    case between(ClosedRange<Number>)
  }

  private func counts(_ text: String) throws -> Bounds<Int> {
    try bounds(text) { number in Int(number).flatMap { $0 >= 0 ? $0 : nil } }
  }

  private func bounds<Number: Comparable>(
    _ text: String, _ number: (String) -> Number?
  ) throws -> Bounds<Number> {
    guard let cut = text.firstRange(of: ".."), text != ".." else {
      throw wrong("takes a range such as 1..200, 1.. or ..200; got \(text)")
    }
    func bound(_ words: Substring) throws -> Number? {
      guard !words.isEmpty else { return nil }
      guard let bound = number(String(words)) else {
        throw wrong("takes numbers that fit the field; “\(words)” is not one")
      }
      return bound
    }
    switch (try bound(text[..<cut.lowerBound]), try bound(text[cut.upperBound...])) {
    case (let low?, let high?):
      guard low <= high else { throw wrong("takes the lower bound first; got \(text)") }
      return .between(low...high)
    case (let low?, nil): return .from(low)
    case (nil, let high?): return .through(high)
    case (nil, nil): throw wrong("takes a range with a bound; got \(text)")
    }
  }

  /// The fields that are named, each once.
  private func names(_ text: String, of schema: ModelSchema) throws -> [String] {
    let names = try list(text)
    for name in names { _ = try schema.requiredField(named: name) }
    guard Set(names).count == names.count else { throw wrong("takes a field once; got \(text)") }
    return names
  }

  private func list(_ text: String) throws -> [String] {
    let list = CommaList(text)
    guard list.isClosed else { throw wrong("has a quote that is not closed: \(text)") }
    return list.texts
  }

  /// The field and what follows its equals sign. A whole field name comes first, since names may
  /// contain any character.
  private func pair(
    _ words: String, of schema: ModelSchema
  ) throws -> (field: FieldSchema, text: String) {
    let named = schema.fields.filter { words.hasPrefix($0.name + "=") }
      .max { $0.name.utf8.count < $1.name.utf8.count }
    if let named { return (named, String(words.dropFirst(named.name.count + 1))) }
    guard let cut = words.firstIndex(of: "=") else { throw wrong("takes FIELD=…; got \(words)") }
    return (
      try schema.requiredField(named: String(words[..<cut])),
      String(words[words.index(after: cut)...])
    )
  }

  private func numericPair(
    _ words: String, of schema: ModelSchema
  ) throws -> (field: FieldSchema, text: String) {
    let (field, text) = try pair(words, of: schema)
    switch field.type {
    case .integer, .real, .any: return (field, text)
    case .date where field.form?.isText != true: return (field, text)
    case .boolean, .date, .text, .blob, .uuid, .url, .decimal, .json:
      throw wrong("takes a field of numbers; \(field.name) is of type \(field.type.rawValue)")
    }
  }

  private func wrong(_ problem: String) -> CommandError {
    .usage("\(demand.option) \(problem).", hint: "storecli rules add --help")
  }
}
