#if Service
  public import ModelStore
  public import ServiceLifecycle

  /// Processes every change of a store in the background, as a durable consumer with retries.
  ///
  /// ```swift
  /// let worker = StoreWorker("search-index", of: store, models: ["Note"]) { change in
  ///   try await index.update(change)
  /// }
  /// let group = ServiceGroup(services: [StoreService(store), worker], …)
  /// ```
  ///
  /// - Your closure receives each change at least once. If the process ends before a batch is
  ///   acknowledged, you receive the batch again.
  /// - Changes of one record come in their order. Changes of different records may run at once.
  /// - A change whose closure throws is tried again, with growing pauses. After the last attempt it
  ///   becomes a ``DeadLetter``, and the worker goes on. Other records do not wait for the pauses.
  /// - If several processes have a worker of the same name, one works and the others wait. When it
  ///   ends, or does not answer for ``Options/leaseDuration``, another one takes over at the
  ///   position that it had acknowledged.
  ///
  /// The change journal must be on for the models: see `ChangeJournal.enable(_:for:mode:)`.
  public struct StoreWorker: Service {
    /// The settings of a worker.
    public struct Options: Sendable {
      /// Where a consumer of a new name begins.
      public var start = Consumer.Start.end
      /// About how many entries of the journal a batch has. It is acknowledged as a whole.
      public var batchSize = 500
      /// The most closures that run at once, at least 1.
      public var concurrency = 8
      /// The most attempts for a change, at least 1.
      public var attemptCount = 5
      /// The pause after the first attempt. Each further pause is twice as long.
      public var pause = Duration.milliseconds(100)
      /// The longest pause.
      public var pauseMax = Duration.seconds(30)
      /// How long the worker may be silent before another process takes over. It renews its lease
      /// three times as often.
      public var leaseDuration = Duration.seconds(30)
      /// Makes a span for each batch, with links to the spans of the writes; nil for none.
      public var tracer: StoreTracer?

      /// Creates the default settings.
      public init() {}
    }

    /// The name of the worker and of its consumer.
    public let name: String
    private let store: Store
    private let models: Set<String>?
    private let operations: Set<RecordChange.Operation>
    private let options: Options
    private let process: @Sendable (JournalChange) async throws -> Void

    /// Creates a worker. It begins to work in ``run()``.
    ///
    /// - Parameters:
    ///   - name: The name of its consumer, unique in the file.
    ///   - models: The names of the models whose changes it processes. With nil, all.
    ///   - operations: The operations that it processes.
    ///   - process: Processes one change.
    public init(
      _ name: String, of store: Store, models: Set<String>? = nil,
      operations: Set<RecordChange.Operation> = [.insert, .update, .delete],
      options: Options = Options(),
      _ process: @escaping @Sendable (JournalChange) async throws -> Void
    ) {
      self.name = name
      self.store = store
      self.models = models
      self.operations = operations
      self.options = options
      self.process = process
    }

    /// Works until the shutdown. Then it begins no further batch, and makes no further attempt of a
    /// change that has failed. If all changes of the running batch are done, it is acknowledged.
    /// Otherwise, and if the task is cancelled, you receive the batch again.
    ///
    /// - Throws: `StoreError` if the consumer cannot be created or read.
    public func run() async throws {
      do {
        try await runUntilShutdown()
      } catch is CancellationError where Task.isCancelled {
        return
      }
    }

    private func runUntilShutdown() async throws {
      let consumer = try await store.consumer(name, startingAt: options.start)
      let desk = WorkerDesk(consumer, holder: "\(name) \(UInt64.random(in: 0 ... .max))")
      try await desk.prepare()
      while !Task.isCancelled, !Task.isShuttingDownGracefully {
        do {
          guard try await desk.takeLease(for: options.leaseDuration) else {
            guard await restsUnlessShuttingDown(options.leaseDuration / 3) else { return }
            continue
          }
          try await workWithLease(desk)
        } catch  where error is CancellationError || (error as? StoreError)?.code == .busy {
          // The lease was lost, or another process writes: the batch comes again.
          guard await restsUnlessShuttingDown(options.pause) else { return }
        }
      }
    }

    private func workWithLease(_ desk: WorkerDesk) async throws {
      do {
        try await work(desk)
      } catch {
        do {
          try await Self.endLease(desk)
        } catch {
          // It runs out by itself, and the first error counts.
        }
        throw error
      }
      try await Self.endLease(desk)
    }

    /// Ends the lease, also in a cancelled task: another process would wait for it otherwise.
    private static func endLease(_ desk: WorkerDesk) async throws {
      try await Task { try await desk.endLease() }.value
    }

    /// Works while the lease is held.
    private func work(_ desk: WorkerDesk) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await keepLease(desk) }
        group.addTask { try await processAll(desk) }
        // The first of them to end ends the other: the lease is lost, or nothing is left to do.
        try await group.next()
        group.cancelAll()
        try await group.waitForAll()
      }
    }

    /// Renews the lease until another process has it.
    private func keepLease(_ desk: WorkerDesk) async throws {
      while await rests(options.leaseDuration / 3) {
        do {
          guard try await desk.takeLease(for: options.leaseDuration) else { return }
        } catch let error as StoreError where error.code == .busy {
          // Two more attempts follow before the lease ends.
        }
      }
    }

    private func processAll(_ desk: WorkerDesk) async throws {
      while let work = try await nextUnlessShuttingDown(desk) {
        switch work {
        case .replays(let letters):
          try await replay(letters, desk)
        case .batch(let batch):
          guard try await run(batch, desk) else { return }
        }
      }
    }

    /// Processes a batch and acknowledges it.
    ///
    /// - Returns: false if it was not finished, because the task was cancelled, or because a change
    ///   failed after the shutdown had begun.
    private func run(_ batch: ConsumerBatch, _ desk: WorkerDesk) async throws -> Bool {
      if batch.reset != nil { desk.reportGap() }
      let changes = batch.changes.filter(isMine)
      func finish() async throws -> Bool {
        guard try await run(changes, desk) else { return false }
        try await batch.acknowledge()
        return true
      }
      guard let tracer = options.tracer, !changes.isEmpty else { return try await finish() }
      let transactions = batch.transactions.filter { $0.changes.contains(where: isMine) }
      return try await tracer.spanOfBatch(
        name, transactions, changeCount: changes.count, finish)
    }

    private func nextUnlessShuttingDown(_ desk: WorkerDesk) async throws -> WorkerDesk.Work? {
      do {
        return try await cancelWhenGracefulShutdown {
          try await desk.next(limit: options.batchSize)
        }
      } catch is CancellationError {
        return nil
      }
    }

    private func isMine(_ change: JournalChange) -> Bool {
      operations.contains(change.operation) && models?.contains(change.model) != false
    }

    private func replay(_ letters: [DeadLetter], _ desk: WorkerDesk) async throws {
      for letter in letters {
        guard !Task.isCancelled else { return }
        if let error = await attempt(letter.change) {
          try await desk.bury(letter.change, error, attemptCount: 1)
        } else {
          try await desk.remove(letter)
        }
      }
    }

    /// Processes the changes: those of one record in their order, others at once.
    ///
    /// - Returns: Whether all are done.
    private func run(_ changes: [JournalChange], _ desk: WorkerDesk) async throws -> Bool {
      let records = Dictionary(grouping: changes) { RecordName(model: $0.model, key: $0.key) }
      let seats = Seats(count: max(1, options.concurrency))
      return try await withThrowingTaskGroup(of: Bool.self) { group in
        for changes in records.values {
          group.addTask { try await runInOrder(changes, seats, desk) }
        }
        return try await group.reduce(true) { $0 && $1 }
      }
    }

    private func runInOrder(
      _ changes: [JournalChange], _ seats: Seats, _ desk: WorkerDesk
    ) async throws -> Bool {
      for change in changes {
        guard !Task.isCancelled, try await run(change, seats, desk) else { return false }
      }
      return true
    }

    /// Processes one change, with its attempts. A pause takes no seat.
    ///
    /// - Returns: Whether it is done: it succeeded, or is a dead letter.
    private func run(
      _ change: JournalChange, _ seats: Seats, _ desk: WorkerDesk
    ) async throws -> Bool {
      var pause = options.pause
      for count in 1...max(1, options.attemptCount) {
        await seats.take()
        let error = await attempt(change)
        await seats.give()
        guard let error else { return true }
        guard count < options.attemptCount else {
          guard !Task.isCancelled else { return false }
          try await desk.bury(change, error, attemptCount: count)
          return true
        }
        guard await restsUnlessShuttingDown(pause) else { return false }
        pause = min(pause * 2, options.pauseMax)
      }
      return false
    }

    /// - Returns: The error of the closure; nil if it succeeded.
    private func attempt(_ change: JournalChange) async -> (any Error)? {
      do {
        try await process(change)
        return nil
      } catch {
        return error
      }
    }

    /// - Returns: false if the task was cancelled, or if the shutdown has begun.
    private func restsUnlessShuttingDown(_ duration: Duration) async -> Bool {
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
        return true
      } catch {
        return false
      }
    }

    /// Sleeps.
    ///
    /// - Returns: false if the task was cancelled.
    private func rests(_ duration: Duration) async -> Bool {
      do {
        try await Task.sleep(for: duration)
        return true
      } catch {
        return false
      }
    }
  }

  /// A record of any model.
  private struct RecordName: Hashable {
    let model: String
    let key: [SQLValue]
  }

  /// Limits how many closures run at once.
  private actor Seats {
    private var freeCount: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) {
      freeCount = count
    }

    func take() async {
      guard freeCount == 0 else {
        freeCount -= 1
        return
      }
      await withCheckedContinuation { waiting.append($0) }
    }

    func give() {
      if waiting.isEmpty { freeCount += 1 } else { waiting.removeFirst().resume() }
    }
  }
#endif
