// The objects in the file that each kind of formula needs.
extension BindingTriggers {
  /// The SQL of one binding.
  struct Parts: Hashable, Sendable {
    package let triggers: [SchemaObject]
    package private(set) var storage: [SchemaObject] = []
    package private(set) var clearings: [String] = []
    package let passes: [BindingPass]
    let driftCondition: String
    package private(set) var storageAudit: String?
    /// Selects the wrong records, if that is not ``driftCondition``.
    package private(set) var offence: String?
    package private(set) var lossCount: String?

    init(_ binding: ResolvedBinding) {
      let make = BindingObjects(binding: binding.schema)
      switch binding.formula {
      case .twoWay(let twoWay): self.init(TwoWaySQL(twoWay, of: binding), make)
      case .derive(_, let dependencies):
        self.init(deriving: BindingSQL(binding), from: dependencies, make)
      case .lookup(let lookup): self.init(lookup, BindingSQL(binding), make)
      case .aggregate(let aggregate): self.init(aggregate, BindingSQL(binding), make)
      }
    }

    private init(_ sql: TwoWaySQL, _ make: BindingObjects) {
      triggers = sql.triggers(make)
      passes = [sql.synchronisation]
      driftCondition = sql.drift
      lossCount = sql.lossCount
    }

    private init(
      deriving sql: BindingSQL, from dependencies: [FieldSchema], _ make: BindingObjects
    ) {
      triggers = sql.targetTriggers(make, watching: dependencies)
      passes = [sql.synchronisation]
      driftCondition = sql.drift
    }

    private init(
      _ lookup: ResolvedBinding.Lookup, _ sql: BindingSQL, _ make: BindingObjects
    ) {
      let evictions = BindingEvictions(lookup, sql.binding.uniqueSets, make)
      triggers =
        sql.sourceTriggers(make, lookup)
        + sql.targetTriggers(make, watching: lookup.link.pairs.map(\.target))
        + (evictions?.triggers(make) { gone in
          [sql.puttingRight(where: sql.refers(toEvicted: gone.links))]
        } ?? [])
      storage = evictions.map { [$0.table] } ?? []
      clearings = evictions.map { ["DELETE FROM \(SQLText.quoted($0.table.name))"] } ?? []
      passes = [sql.synchronisation]
      driftCondition = sql.drift
    }

    private init(
      _ aggregate: ResolvedBinding.Aggregate, _ sql: BindingSQL, _ make: BindingObjects
    ) {
      let kept = AggregateSQL(aggregate, sql, make)
      triggers =
        kept.triggers
        + sql.targetTriggers(
          make,
          watching: aggregate.link.pairs.map(\.target) + aggregate.link.place.map(\.field))
      storage = kept.storage
      clearings = kept.clearings
      passes = [kept.refill, sql.synchronisation].compactMap(\.self)
      driftCondition = sql.drift
      storageAudit = kept.audit
      offence = kept.offence
    }
  }
}

extension ResolvedBinding {
  /// The expressions that writers evaluate.
  var writtenExpressions: [BindingTriggers.Expression] {
    func expression(_ expression: SQLExpression?, _ model: ModelSchema)
      -> [BindingTriggers.Expression]
    {
      expression.map { [.init(expression: $0, model: model)] } ?? []
    }
    let own =
      switch formula {
      case .twoWay(let twoWay):
        [twoWay.left, twoWay.right].flatMap { expression($0.value, $0.model) }
      case .derive(let value, _): expression(value, model)
      case .lookup(let lookup): expression(lookup.transform, lookup.source)
      case .aggregate(let aggregate):
        expression(aggregate.condition, aggregate.source)
          + expression(aggregate.term?.expression, aggregate.source)
      }
    return expression(condition, model) + own
  }
}
