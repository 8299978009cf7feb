// The resolution of which records belong together.
extension BindingFields {
  /// How a lookup finds its record.
  struct Path {
    package var link = ResolvedBinding.Link()
    /// Whether the record may be missing.
    var mayBeMissing = true
    /// The wording for a missing record in messages.
    var situation: String
    package var names: String
  }

  package func path(
    of lookup: BindingSchema.Lookup, _ through: String?, _ source: ModelSchema,
    to target: FieldSchema, of model: ModelSchema
  ) throws(StoreError) -> Path {
    let situation = "no record of \(source.name) belongs to it"
    var path = Path(situation: situation, names: situation)
    if let through {
      let reference = try field(named: through, of: model)
      if reference.name == target.name {
        throw refusal(
          "\(binding.target) is its own reference. Name the field that refers to \(source.name).")
      }
      let key = try key(of: source, for: reference, in: model)
      path.link.pairs = [ResolvedBinding.Link.Pair(source: key, target: reference)]
      path.mayBeMissing = reference.isOptional
      path.situation = "\(model.name).\(reference.name) is NULL"
      path.names = "\(model.name).\(reference.name) names no record"
    } else if let place = lookup.place {
      path.link.place = try self.place(place, in: source)
    } else {
      path.link.pairs = try pairs(lookup.match, source, model)
      try checkUnique(path.link.pairs.map(\.source), in: source)
    }
    if path.link.pairs.contains(where: { $0.target.name == target.name }) {
      throw refusal("\(binding.target) finds its own source. Match another field.")
    }
    return path
  }

  /// Returns which records of both ends belong together.
  package func link(
    _ twoWay: BindingSchema.TwoWay, _ leftField: FieldSchema, of leftModel: ModelSchema,
    _ field: FieldSchema, of model: ModelSchema
  ) throws(StoreError) -> ResolvedBinding.Link {
    var link = ResolvedBinding.Link()
    guard !twoWay.match.isEmpty else {
      if leftModel.name == model.name { return link }
      throw refusal(
        "the binding does not say which records of \(leftModel.name) and \(model.name) belong "
          + "together. Match their fields.")
    }
    link.pairs = try pairs(twoWay.match, leftModel, model)
    try checkUnique(link.pairs.map(\.source), in: leftModel)
    try checkUnique(link.pairs.map(\.target), in: model)
    try checkCollations(of: link, leftModel, model)
    let ends: Set = [
      ResolvedBinding.Column(leftModel, leftField), ResolvedBinding.Column(model, field),
    ]
    for pair in link.pairs
    where ends.contains(ResolvedBinding.Column(leftModel, pair.source))
      || ends.contains(ResolvedBinding.Column(model, pair.target))
    {
      throw refusal("its ends determine which records belong together. Match other fields.")
    }
    return link
  }

  package func pairs(
    _ match: [BindingSchema.Match], _ source: ModelSchema, _ target: ModelSchema
  ) throws(StoreError) -> [ResolvedBinding.Link.Pair] {
    guard !match.isEmpty else {
      throw refusal(
        "the binding does not say which record of \(source.name) belongs to one of "
          + "\(target.name). Match their fields, or name the one record.")
    }
    var pairs: [ResolvedBinding.Link.Pair] = []
    for names in match {
      let pair = ResolvedBinding.Link.Pair(
        source: try field(named: names.source, of: source),
        target: try field(named: names.target, of: target))
      guard pair.source.affinity == pair.target.affinity else {
        throw refusal(
          "\(source.name).\(pair.source.name) (\(pair.source.declaration)) and "
            + "\(target.name).\(pair.target.name) (\(pair.target.declaration)) are stored "
            + "differently, so equal values may not compare equal. Declare them alike.")
      }
      pairs.append(pair)
    }
    return pairs
  }

  /// The link must match the same records from both sides, so both sides need the same collation.
  func checkCollations(
    of link: ResolvedBinding.Link, _ source: ModelSchema, _ target: ModelSchema
  ) throws(StoreError) {
    for pair in link.pairs where pair.source.collation != pair.target.collation {
      throw refusal(
        "\(source.name).\(pair.source.name) and \(target.name).\(pair.target.name) compare texts by "
          + "different collations. Declare them alike.")
    }
  }

  package func place(
    _ key: [SQLValue], in model: ModelSchema
  ) throws(StoreError) -> [ResolvedBinding.Link.Constant] {
    guard key.count == model.key.count, !key.contains(where: \.isNull) else {
      throw refusal(
        "the key of \(model.name) has \(model.key.count) "
          + "\(model.key.count == 1 ? "value" : "values"), none of them NULL; got \(key.count).")
    }
    return zip(model.keyFields, key).map { field, value in
      let stored = field.isMaybeBare ? value : field.affinity.converting(value)
      return ResolvedBinding.Link.Constant(field: field, literal: stored.description)
    }
  }

  func checkUnique(
    _ fields: [FieldSchema], in model: ModelSchema
  ) throws(StoreError) {
    guard model.isUnique(fields) else {
      let list = fields.map { "\(model.name).\($0.name)" }.joined(separator: ", ")
      throw refusal(
        "\(list) \(fields.count == 1 ? "is" : "are") not unique, so several records may belong to "
          + "one. Make \(fields.count == 1 ? "it" : "them") unique.")
    }
  }
}

extension ModelSchema {
  /// Returns whether the values of `fields` together are unique.
  package func isUnique(_ fields: [FieldSchema]) -> Bool {
    let names = Set(fields.map(\.name))
    return collidingSets.contains { names.isSuperset(of: $0.map(\.name)) }
  }

  /// The key, and every other set of fields whose values together are unique.
  var collidingSets: [[FieldSchema]] {
    let names =
      [key] + fields.filter(\.isUnique).map { [$0.name] } + uniques
      + indexes.filter(\.isUnique).map(\.fields)
    var seen: Set<Set<String>> = []
    return names.filter { !$0.isEmpty && seen.insert(Set($0)).inserted }
      .map { $0.compactMap(field(named:)) }
  }
}
