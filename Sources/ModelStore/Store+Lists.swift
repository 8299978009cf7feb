// One record's ordered list.
extension Store {
  /// Tells each change of one record's list, from now on: elements that come, go and move, with
  /// their indices, and changes of the elements' own fields.
  ///
  /// - Parameters:
  ///   - key: The owner's key; its record need not exist yet.
  ///   - fields: The fields of elements to tell about, at every index that an element occupies, as
  ///     long as it is in the list; without any, elements are not observed.
  ///   - body: Called on the store's delivery queue, once for each commit that changes the list or
  ///     an observed field, in commit order; several commits come as one when it falls behind by
  ///     more than the mailbox's capacity. It may write, observe and cancel.
  /// - Returns: Keep it: dropping it ends the observation.
  /// - Throws: ``StoreError`` with code `unknownField` for what is no list of the owner or no
  ///   stored field of its elements; `misuse` inside a write of this store.
  /// - Complexity: Reads the list once, while writers wait; then O(log n) for each changed slot.
  public func observe<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [],
    _ body: @escaping @Sendable (ListChanges<Element>) -> Void
  ) throws -> Subscription {
    try startObserving(list, of: key, fields, from: .changes, receiver(body)).subscription
  }

  /// As ``observe(list:of:fields:_:)``, beginning with the list as it is: an event whose old list
  /// is empty. No change is lost or told twice in between.
  public func observeWithInitial<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [],
    _ body: @escaping @Sendable (ListChanges<Element>) -> Void
  ) throws -> Subscription {
    try startObserving(list, of: key, fields, from: .contents, receiver(body)).subscription
  }

  /// The changes of one record's list from now on, for one `for try await` loop. Parameters and
  /// errors as for ``observe(list:of:fields:_:)``.
  public func changes<Owner: Model, Element: Model>(
    ofList list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = []
  ) throws -> ObservedChanges<ListChanges<Element>> {
    sequence(try startObserving(list, of: key, fields, from: .changes, nil))
  }

  /// As ``changes(ofList:of:fields:)``, beginning with the list as it is.
  public func changesWithInitial<Owner: Model, Element: Model>(
    ofList list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = []
  ) throws -> ObservedChanges<ListChanges<Element>> {
    sequence(try startObserving(list, of: key, fields, from: .contents, nil))
  }

  private func receiver<Element: Model>(
    _ body: @escaping @Sendable (ListChanges<Element>) -> Void
  ) -> @Sendable (ListDelta) -> Void {
    { [report = core.report] delta in
      do {
        let changes = try ListChanges<Element>(delta)
        if changes.isTold { body(changes) }
      } catch {
        report(StoreError(reporting: error))
      }
    }
  }

  private func sequence<Element: Model>(
    _ observation: (result: ListResult, subscription: Subscription)
  ) -> ObservedChanges<ListChanges<Element>> {
    let result = observation.result
    return ObservedChanges(subscription: observation.subscription) {
      while let delta = await result.next() {
        let changes = try ListChanges<Element>(delta)
        if changes.isTold { return changes }
      }
      return nil
    }
  }

  private func startObserving<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    _ fields: [any PartialKeyPath<Element> & Sendable], from start: ListStart,
    _ receive: (@Sendable (ListDelta) -> Void)?
  ) throws -> (result: ListResult, subscription: Subscription) {
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
    return try core.observe(rule, reading: SlotSQL(slots, owner: owner).rows, from: start, receive)
  }
}

/// With what an observation of a list begins.
private enum ListStart {
  case changes
  case contents
}

extension StoreCore {
  fileprivate func observe(
    _ rule: ListResult.Rule, reading text: SQLText, from start: ListStart,
    _ receive: (@Sendable (ListDelta) -> Void)?
  ) throws -> (result: ListResult, subscription: Subscription) {
    let reload: @Sendable (Connection) throws -> [[SQLValue]] = { connection in
      try connection.rows(text) { row in try row.values() }
    }
    return try writer.sync { writer in
      // No commit of this store can come between reading and registering.
      try publishWhatOthersDid(&writer)
      let images: [[SQLValue]]
      do {
        images = try reload(writer.connection)
      } catch {
        throw models.storeError(error, about: rule.slots)
      }
      let result = ListResult(
        rule: rule, images: images, version: broker.version,
        capacity: configuration.mailboxCapacity,
        reload: { [weak self] in
          guard let self else { return [] }
          return try writersReader.sync(reload)
        }, report: report)
      if let receive { result.whenReady(receive) }
      if start == .contents { result.putContents() }
      let end = broker.add(result)
      if start == .contents {
        let version = broker.version
        broker.enqueue { result.deliver(upTo: version) }
      }
      return (
        result,
        Subscription {
          result.end()
          end()
        }
      )
    }
  }
}

extension ListChanges {
  /// Whether observers are told: an event without any difference is none, but for the first one
  /// and for a reset.
  fileprivate var isTold: Bool { !isEmpty || isInitial || isReset }
}
