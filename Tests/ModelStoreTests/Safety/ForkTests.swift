import CFaultVFS
import Testing

@testable import ModelStore

/// A forked child may not use, close or reopen what its parent has open.
@Suite(.tags(.process), .ownThreads) struct ForkTests {
  private final class Probe {
    var store: Store?
    let path: String

    init(store: Store, path: String) {
      self.store = store
      self.path = path
    }

    /// Runs in the child. 0 when everything was refused, else the number of the call that was not.
    func refusals() -> CInt {
      guard let store else { return 1 }
      let calls: [() throws -> Void] = [
        { try store.write { _ in } },
        { _ = try store.writeReturningChanges { _ in } },
        { _ = try store.preview { _ in } },
        { try store.read { _ in } },
        { _ = try store.fetch(Artist.all) },
        { _ = try store.find(Artist.self, 1) },
        { try store.checkpoint() },
        { _ = try store.checkIntegrity() },
        { _ = try store.bindings() },
        { _ = try store.adoptableTables() },
        { _ = try store.liveQuery(Artist.all) },
        { try store.refresh() },
        { _ = try Store(at: self.path, models: Artist.self) },
      ]
      for (number, call) in calls.enumerated() where code(of: call) != .forked {
        return CInt(number + 2)
      }
      store.close()
      self.store = nil
      return code { try Store(at: path, models: Artist.self) } == .forked ? 0 : 100
    }

    func inChild() -> CInt {
      fault_vfs_in_child(
        { context in
          guard let context else { return 200 }
          return Unmanaged<Probe>.fromOpaque(context).takeUnretainedValue().refusals()
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  /// In a process of its own: a fork beside running tests would copy locks that their threads hold.
  @Test func aForkedChildIsRefusedAndTheParentKeepsWorking() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) {
      [path = directory.file("forked.store") as String] in
      try Self.forkInEveryState(path)
    }
  }

  private static func forkInEveryState(_ path: String) throws {
    let store = try Store(at: path, models: Artist.self)
    let probe = Probe(store: store, path: path)
    // An observed store listens; a child that lets it go may not end that for its parent.
    let artists = AwaitedEvents<Artist?>()
    let subscription = try store.observe(Artist.self, of: 100) { artists.add($0.new) }
    for round in 0..<20 {
      let id = Int64(round)
      #expect(probe.inChild() == 0)
      try store.write { tx in
        try tx.insert(Artist(id: id, name: "a"))
        let held = try lockRows(of: path)
        // Also while the parent is in the middle of a write.
        #expect(probe.inChild() == 0)
        #expect(try lockRows(of: path) == held)
      }
      try store.read { tx in
        let count = try tx.count(Artist.all)
        #expect(count == round + 1)
        #expect(probe.inChild() == 0)
      }
    }
    #expect(try store.fetch(Artist.all).map(\.id) == (0..<20).map { Int64($0) })
    #expect(try store.checkIntegrity() == [])
    if SQLiteShell.isAvailable {
      let shell = try SQLiteShell(path)
      try shell.run("INSERT INTO Artist(id, name) VALUES (100, 'another''s')")
      try artists.next { $0 == Artist(id: 100, name: "another's") }
    }
    subscription.cancel()
  }

  /// In a process of its own, for the same reason.
  @Test func aForkedChildIsNotTheProcessOfItsParent() async throws {
    await #expect(processExitsWith: .success) {
      for _ in 0..<3 {
        let parents = OpeningProcess()
        #expect(parents.isCurrent)
        let code = withUnsafePointer(to: parents) { parents in
          fault_vfs_in_child(
            { context in
              guard let context else { return 1 }
              let parents = context.assumingMemoryBound(to: OpeningProcess.self).pointee
              guard !parents.isCurrent else { return 2 }
              // The child's own note of its number replaces that of its parent.
              guard OpeningProcess().isCurrent else { return 3 }
              return parents.isCurrent ? 4 : 0
            }, UnsafeMutableRawPointer(mutating: parents))
        }
        #expect(code == 0)
        #expect(parents.isCurrent)
      }
    }
  }
}
