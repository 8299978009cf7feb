// One record's ordered list.
extension Store {
  /// Tells each change of one record's list, from now on: elements that come, go and move, with
  /// their indices, and changes of the elements' own fields.
  ///
  /// - Parameters:
  ///   - key: The owner's key; its record need not exist yet.
  ///   - fields: The fields of elements to tell about, at every index that an element occupies, as
  ///     long as it is in the list; without any, elements are not observed.
  ///   - options: With ``ObservationOptions/initial``, the first event is the list as it is, as if
  ///     it had been empty before; no change is lost or told twice in between.
  ///     ``ObservationOptions/prior`` is refused.
  ///   - backlog: What becomes of commits while a call is running or the subscription is paused.
  ///   - body: Called on the store's delivery queue, once for each commit that changes the list or
  ///     an observed field, in commit order. It may write, observe and cancel.
  /// - Returns: Keep it: dropping it ends the observation.
  /// - Throws: ``StoreError`` with code `unknownField` for what is no list of the owner or no
  ///   stored field of its elements; `misuse` inside a write of this store, and for an option that
  ///   is refused.
  /// - Complexity: Reads the list once, while writers wait; then O(log n) for each changed slot.
  public func observe<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    backlog: Backlog = .standard, _ body: @escaping @Sendable (ListChanges<Element>) -> Void
  ) throws -> Subscription {
    let rule = try rule(of: list, of: key, fields)
    try options.check(allowing: .initial, by: .callback, of: rule.slots.name)
    let mailbox = Mailbox<ListDelta>(core.broker, options: options, backlog: backlog)
    mailbox.whenReady { [report = core.report] delta in
      do {
        let changes = try ListChanges<Element>(delta)
        if changes.isTold { body(changes) }
      } catch {
        report(StoreError(reporting: error))
      }
    }
    return try core.observe(rule, options, mailbox)
  }

  /// The changes of one record's list from now on, for one `for try await` loop. Parameters and
  /// errors as for ``observe(list:of:fields:options:backlog:_:)``; a loop cannot be
  /// ``ObservationOptions/synchronous``.
  public func changes<Owner: Model, Element: Model>(
    ofList list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    backlog: Backlog = .standard
  ) throws -> ObservedChanges<ListChanges<Element>> {
    let rule = try rule(of: list, of: key, fields)
    try options.check(allowing: .initial, by: .loop, of: rule.slots.name)
    let mailbox = Mailbox<ListDelta>(core.broker, backlog: backlog)
    return ObservedChanges(
      subscription: try core.observe(rule, options, mailbox), report: core.report
    ) {
      while let delta = await mailbox.next() {
        let changes = try ListChanges<Element>(delta)
        if changes.isTold { return changes }
      }
      return nil
    }
  }

  private func rule<Owner: Model, Element: Model>(
    of list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    _ fields: [any PartialKeyPath<Element> & Sendable]
  ) throws -> ListResult.Rule {
    let slots = try core.models.slots(of: list)
    let elements = try core.models.statements(for: Element.self).schema
    let indices = try fields.map { field in
      guard let index = Element.definition.fieldIndex(of: field) else {
        throw StoreError(
          .unknownField, "\(field) is no stored field of \(elements.name).", model: elements.name)
      }
      return index
    }
    let owner: SQLValue
    do {
      owner = try key.sqlValues()[0]
    } catch {
      throw StoreError(
        .invalidValue, "\(slots.name): the owner's key cannot be stored: \(error).",
        model: slots.name)
    }
    guard
      let rule = ListResult.Rule(
        slots: slots, owner: owner, elements: elements, fields: Set(indices))
    else {
      throw StoreError(.misuse, "\(slots.name) holds no slots of a list.", model: slots.name)
    }
    return rule
  }
}

extension StoreCore {
  fileprivate func observe(
    _ rule: ListResult.Rule, _ options: ObservationOptions, _ mailbox: Mailbox<ListDelta>
  ) throws -> Subscription {
    let text = SlotSQL(rule.slots, owner: rule.ownerKey).rows
    let reload: @Sendable (Connection) throws -> [[SQLValue]] = { connection in
      try connection.rows(text) { row in try row.values() }
    }
    return try settled { writer in
      try atToldState(&writer) { writer in
        let images: [[SQLValue]]
        do {
          images = try reload(writer.connection)
        } catch {
          throw models.storeError(error, about: rule.slots)
        }
        let version = broker.version
        let result = ListResult(
          rule: rule, images: images, version: version, mailbox: mailbox,
          reload: { [weak self] in
            guard let self else { return [] }
            return try readTold(reload)
          }, report: report)
        let outcome = options.contains(.initial) ? result.putContents() : []
        let end = broker.add(result)
        broker.enqueue(for: outcome) { mailbox.deliver(upTo: version) }
        return Subscription(mailbox) {
          mailbox.close()
          end()
        }
      }
    }
  }
}

extension ListChanges {
  /// Whether observers are told: an event without any difference is none, but for the first one
  /// and for a reset.
  fileprivate var isTold: Bool { !isEmpty || isInitial || isReset }
}
