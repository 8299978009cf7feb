import ModelStore

/// Models with names and declarations of every kind, as programs could declare them.
struct RandomModels {
  private(set) var models: [ModelSchema] = []
  private(set) var bindings: [FieldBinding] = []
  private(set) var rules: [Rule] = []
  private var state: UInt64

  private static let names = [
    "Artist", "Order Details", "class", "Type", "über", "String", "Self", "a.b", "x\"y", "9 lives",
    "order details", "Data",
  ]

  private static let fieldNames = [
    "title", "unit price", "unitPrice", "default", "init", "self", "key", "größe", "say \"hi\"",
    "1st", "hashValue", "back\\slash", "Type", "encode", "%", "tab\there", "description", "where",
    "is", "Any", "$0", "名前", "e\u{301}", "ﬁ", "x_y", "_",
  ]

  init(seed: UInt64) {
    state = seed
    for (place, name) in Self.names.enumerated() { models.append(model(name, place)) }
    models[0].lists = [
      ListSchema(
        name: "top picks", elementTable: models[1].table, slotTable: "Artist_top picks")
    ]
    addBindings()
    addRules()
  }

  private mutating func number(below limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
  }

  private mutating func chance(_ parts: Int) -> Bool { number(below: parts) == 0 }

  private mutating func model(_ name: String, _ place: Int) -> ModelSchema {
    let keys = keyFields(place)
    let keyNames = keys.map(\.name)
    var fields = keys
    var left = Self.fieldNames.filter { !keyNames.contains($0) }
    for _ in 0..<(3 + number(below: 12)) where !left.isEmpty {
      fields.append(field(left.remove(at: number(below: left.count)), of: name))
    }
    // Bindings and rules need fields that each model has.
    fields.append(FieldSchema(name: "n0", type: .integer, isOptional: true))
    fields.append(FieldSchema(name: "n1", type: .integer, defaultSQL: "0"))
    fields.append(FieldSchema(name: "n2", type: .integer, defaultSQL: "1"))
    fields.append(FieldSchema(name: "d0", type: .decimal, isOptional: true))
    fields.append(FieldSchema(name: "d1", type: .decimal, defaultSQL: "'0'"))
    if place > 0 {
      fields.append(
        FieldSchema(
          name: "artist", column: "artist id", type: .integer, isOptional: true,
          reference: ReferenceSchema(
            table: "Artist", column: chance(2) ? "id" : nil,
            onDelete: [.noAction, .restrict, .cascade, .setNull, .setDefault][number(below: 5)],
            onUpdate: chance(2) ? .cascade : .noAction)))
    }
    var schema = ModelSchema(
      name: name,
      // SQLite takes names of tables that differ only in case for one.
      table: place > 0 && chance(3) || name == "order details" ? "t \(place)\"" : name,
      fields: fields,
      key: keyNames,
      uniques: chance(2) && place != 6 ? [["n0", "n1"]] : [])
    if chance(2) {
      schema.rules.append(
        RuleSchema(
          name: "\(name).pair", message: "must \"fit\"", condition: "\"n0\" <> \"n1\" OR 1"))
    }
    return schema
  }

  private mutating func keyFields(_ place: Int) -> [FieldSchema] {
    if place == 0 { return [FieldSchema(name: "id", type: .integer, isRowID: true)] }
    switch place % 5 {
    case 0: return [FieldSchema(name: "key", type: .text)]
    case 1: return [FieldSchema(name: "key", type: .integer, isRowID: true)]
    case 2:
      return [
        FieldSchema(name: "order id", type: .integer), FieldSchema(name: "shelf", type: .text),
        FieldSchema(name: "at", type: .date),
      ]
    case 3: return [FieldSchema(name: "id", type: .uuid)]
    default: return [FieldSchema(name: "class", type: .decimal)]
    }
  }

  private mutating func field(_ name: String, of model: String) -> FieldSchema {
    let type = FieldType.allCases[number(below: FieldType.allCases.count)]
    var field = FieldSchema(
      name: name, column: chance(3) ? "c \(name)" : name, type: type,
      isOptional: type == .any || chance(2), isUnique: chance(6),
      collation: chance(4) ? [.nocase, .rtrim][number(below: 2)] : .binary)
    let defaults: [FieldType: String] = [
      .integer: "-3", .real: "1.5", .text: "'it''s \"x\"'", .boolean: "1", .decimal: "'2.5'",
      .date: "(strftime('%s', 'now'))",
    ]
    if chance(3) { field.defaultSQL = defaults[type] }
    func rule(_ rule: FieldRule) -> RuleSchema {
      rule.schema(model: model, field: name, column: field.column)
    }
    switch type {
    case .text:
      let known: [FieldRule] = [
        .length(1...120), .length(2...), .length(...9), .byteLength(1...9), .byteLength(...8),
        .notBlank, .oneOf("a", "it's", "\"", ""), .matches(like: "a%_\\"),
        .matches(glob: "[a-z]*?"), .sql("odd", "must {be} \"odd\"", "length({field}) % 2 = 1"),
      ]
      field.rules = chance(2) ? [rule(known[number(below: known.count)])] : []
    case .integer:
      let known: [FieldRule] = [
        .range(-5...5), .range((-7)...), .range(...(-1)), .oneOf(1, 2, -3),
        .sql("free", "is {field} itself", "{field} <> 7 OR '{x}' = ''"),
      ]
      field.rules = [rule(known[number(below: known.count)])]
    case .real: field.rules = chance(2) ? [rule(.range(-0.5...1e9))] : []
    default: break
    }
    return field
  }

  private mutating func addBindings() {
    func target(_ model: String, _ field: String) -> BindingSchema.Field {
      BindingSchema.Field(model: model, field: field)
    }
    for (place, model) in models.enumerated().dropFirst() {
      let match = [BindingSchema.Match(source: "artist", target: "id")]
      switch place {
      case 1:
        add(
          target("Artist", "n1"),
          .aggregate(.init(.sum, model: model.name, field: "n1", match: match)))
      case 2:
        add(
          target("Artist", "d1"),
          .aggregate(
            .init(
              .sum, model: model.name, expression: "\"n0\" * \"d0\"", scale: 4, match: match,
              condition: "\"n1\" > '0'")))
      case 3:
        add(target(model.name, "n0"), .copy(source: target("Artist", "n0"), through: "artist"))
      case 4: add(target(model.name, "n1"), .derive(sql: "coalesce(\"n0\", 0) + 1"), "a \"name\"")
      case 5:
        add(
          target(model.name, "n0"),
          .lookup(
            .init(
              source: target("Artist", "n0"), match: [.init(source: "id", target: "artist")],
              transform: "\"n0\" / 2", keepsLast: true)))
      case 6:
        add(
          target(model.name, "n1"),
          .twoWay(
            .init(
              left: target(model.name, "n0"), match: [], forward: "coalesce(\"n0\", 0)",
              backward: "\"n1\"", conflict: .rightWins, initially: .right)))
      case 7:
        add(
          target(model.name, "n0"),
          .lookup(.init(source: target("Artist", "n0"), match: [], place: [.integer(1)])))
      case 8:
        add(
          target("Artist", "n0"),
          .aggregate(
            .init(
              .maximum, model: model.name, expression: "\"n1\" - 1", match: [], place: [.integer(7)]
            )
          ))
      case 9:
        add(
          target(model.name, "d0"),
          .lookup(
            .init(source: target("Artist", "d0"), match: [.init(source: "id", target: "artist")])))
      default: break
      }
    }
  }

  private mutating func add(
    _ target: BindingSchema.Field, _ formula: BindingSchema.Formula, _ name: String? = nil
  ) {
    var schema = BindingSchema(name: name, target: target, formula: formula)
    if case .derive = formula { schema.condition = "\"n0\" > 2" }
    bindings.append(FieldBinding(schema))
  }

  private mutating func addRules() {
    let demands: [(Rule.Demand, [String])] = [
      (.required, ["n0"]), (.condition(sql: "\"n1\" < 10 OR 'it''s' = ''"), ["n0", "n1"]),
      (.unique(where: "\"n1\" > 3"), ["n0", "d0"]), (.unique(where: nil), ["d0"]),
      (.reference(model: "Artist"), ["n0"]), (.immutable, ["d0"]),
      (.countAtMost(count: 3, per: ["n0"]), ["n0"]), (.countAtMost(count: 900, per: []), []),
      (.sumAtMost(limit: 10.5, per: ["artist"]), ["n1"]), (.noOverlap(per: []), ["n0", "n1"]),
      (.noOverlap(per: ["d0"]), ["n1", "n2"]),
    ]
    for (model, (demand, fields)) in zip(models.dropFirst(), demands) {
      // Names of rules are compared without case.
      let endings: [String: String] = [
        "required": "required", "immutable": "immutable", "reference": "exists",
      ]
      let kind = "\(demand)".prefix { $0.isLetter }
      let usual = endings[String(kind)].flatMap { ending in
        chance(2) ? "\(model.name).\(fields[0]).\(ending)" : nil
      }
      var rule = Rule(usual ?? "rule \"\(model.table)\"", of: model.name, fields: fields, demand)
      if chance(3) { rule.remedy = "Ask \"her\"." }
      if chance(3) { rule.message = "must be \\ fine" }
      rules.append(rule)
    }
  }
}
