import ModelStore

/// The rule that the options of `validators add` describe.
struct RuleWords {
  private let options: ValidatorsAddCommand

  init(_ options: ValidatorsAddCommand) {
    self.options = options
  }

  /// - Throws: ``CommandError`` for a field that the model does not have, with near misses, and for
  ///   words that are no range or number.
  func rule(for schema: ModelSchema) throws -> Rule {
    let per = try options.per.map(names) ?? []
    for name in per { _ = try schema.requiredField(named: name) }
    func made(_ fields: [String], _ label: String, _ demand: Rule.Demand) throws -> Rule {
      for name in fields { _ = try schema.requiredField(named: name) }
      let parts = [schema.name] + (fields.isEmpty ? [] : [fields.joined(separator: "-")]) + [label]
      return Rule(parts.joined(separator: "."), of: schema.name, fields: fields, demand)
    }
    if let fields = options.required {
      return try made(names(fields), "required", .required)
    }
    if let fields = options.unique {
      return try made(
        names(fields), "unique", .unique(where: options.condition))
    }
    if let fields = options.immutable {
      return try made(names(fields), "immutable", .immutable)
    }
    if let sql = options.check { return try made([], "check", .condition(sql: sql)) }
    if let words = options.references {
      let (field, model) = try pair(words, "--references")
      return try made([field], "exists", .reference(model: model))
    }
    if let count = options.atMost {
      return try made(per, "count", .countAtMost(count: count, per: per))
    }
    if let words = options.sum {
      let (field, limit) = try pair(words, "--sum")
      return try made([field], "sum", .sumAtMost(limit: try number(limit, "--sum"), per: per))
    }
    if let fields = options.noOverlap {
      return try made(names(fields), "noOverlap", .noOverlap(per: per))
    }
    return try fieldRule(for: schema)
  }

  /// The rules of one field.
  private func fieldRule(for schema: ModelSchema) throws -> Rule {
    func made(_ name: String, _ rule: FieldRule) throws -> Rule {
      Rule.field(try schema.requiredField(named: name), of: schema, rule)
    }
    if let words = options.length {
      let (field, text) = try pair(words, "--length")
      let bounds = try range(text, "--length") { try wholeNumber($0, "--length") }
      switch bounds {
      case (let low?, let high?): return try made(field, .length(low...high))
      case (let low?, nil): return try made(field, .length(low...))
      case (_, let high): return try made(field, .length(...(high ?? 0)))
      }
    }
    if let words = options.bytes {
      let (field, text) = try pair(words, "--bytes")
      let (low, high) = try range(text, "--bytes") { try wholeNumber($0, "--bytes") }
      guard let high else { throw CommandError.usage("--bytes takes an upper bound.") }
      return try made(field, low.map { .byteLength($0...high) } ?? .byteLength(...high))
    }
    if let words = options.range {
      let (field, text) = try pair(words, "--range")
      let isWhole =
        !text.contains { $0 == "e" || $0 == "E" } && !text.replacing("..", with: "").contains(".")
      return try isWhole
        ? made(field, Self.rule(range(text, "--range") { try wholeNumber($0, "--range") }))
        : made(field, Self.rule(range(text, "--range") { try number($0, "--range") }))
    }
    if let words = options.oneOf {
      let (field, texts) = try pair(words, "--one-of")
      return try made(field, .oneOf(names(texts)))
    }
    if let words = options.like {
      let (field, pattern) = try pair(words, "--like")
      return try made(field, .matches(like: pattern))
    }
    let (field, pattern) = try pair(options.glob ?? "", "--glob")
    return try made(field, .matches(glob: pattern))
  }

  private static func rule<Number: RuleNumber>(_ range: (Number?, Number?)) -> FieldRule {
    switch range {
    case (let low?, let high?): .range(low...high)
    case (let low?, nil): .range(low...)
    case (nil, let high?): .range(...high)
    case (nil, nil): preconditionFailure("A range has a bound.")
    }
  }

  /// - Throws: ``CommandError`` when a quote is never closed.
  private func names(_ text: String) throws -> [String] {
    let list = CommaList(text)
    guard list.isClosed else { throw CommandError.usage("A quote is never closed in \(text).") }
    return list.texts
  }

  private func pair(_ words: String, _ option: String) throws -> (String, String) {
    guard let cut = words.firstIndex(of: "=") else {
      throw CommandError.usage("\(option) takes FIELD=…; got \(words).")
    }
    return (String(words[..<cut]), String(words[words.index(after: cut)...]))
  }

  /// At least one bound is there, and the lower one is not the greater.
  private func range<Number: Comparable>(
    _ text: String, _ option: String, _ bound: (String) throws -> Number
  ) throws -> (Number?, Number?) {
    guard let cut = text.firstRange(of: ".."), text != ".." else {
      throw CommandError.usage("\(option) takes a range such as 1..200, 1.. or ..200; got \(text).")
    }
    func part(_ words: Substring) throws -> Number? {
      words.isEmpty ? nil : try bound(String(words))
    }
    let low = try part(text[..<cut.lowerBound])
    let high = try part(text[cut.upperBound...])
    if let low, let high, low > high {
      throw CommandError.usage("\(option) takes the lower bound first; got \(text).")
    }
    return (low, high)
  }

  private func wholeNumber(_ text: String, _ option: String) throws -> Int {
    guard let number = Int(text) else {
      throw CommandError.usage("\(option) takes whole numbers; got \(text).")
    }
    return number
  }

  private func number(_ text: String, _ option: String) throws -> Double {
    guard let number = Double(text), number.isFinite else {
      throw CommandError.usage("\(option) takes numbers; got \(text).")
    }
    return number
  }
}
