#if Service
  import ModelStore
  import ModelStoreService
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Testing

  @Suite(.tags(.unit), .timeLimit(.minutes(30))) struct StoreServiceTests {
    @Test func aGracefulShutdownClosesTheStoreAndKeepsEverything() async throws {
      let world = try ServiceWorld()
      try await testGracefulShutdown { trigger in
        async let service: Void = StoreService(world.store).run()
        try await world.store.write { tx in try tx.insert(Note(id: 1, text: "a")) }
        trigger.triggerGracefulShutdown()
        try await service
      }
      #expect(throws: StoreError.self) { try world.insert(2) }
      let reopened = try await Store(at: world.store.path, models: Note.self)
      #expect(try await reopened.fetch(Note.all) == [Note(id: 1, text: "a")])
    }

    @Test func cancellingTheGroupClosesTheStoreToo() async throws {
      let world = try ServiceWorld()
      let service = Task { try await StoreService(world.store).run() }
      service.cancel()
      try await service.value
      #expect(throws: StoreError.self) { try world.insert(1) }
    }
  }
#endif
