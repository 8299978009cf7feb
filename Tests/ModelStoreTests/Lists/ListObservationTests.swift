import Testing

@testable import ModelStore

/// What observers of a list receive, case by case. `pN` is song N.
@Suite(.tags(.unit)) struct ListObservationTests {
  /// The events of one edit: in words, with the whole list after.
  private func events(
    from songs: [Int64], fields: [any PartialKeyPath<Song> & Sendable] = [],
    _ edit: (borrowing ListEditor<Int64>) throws -> Void
  ) throws -> [String] {
    let world = try ListWorld(songs: songs)
    let subscription = try world.observe(fields: fields)
    try world.edit(edit)
    subscription.cancel()
    return try world.told.events.map { event in
      #expect(try event.old.keys() == songs)
      #expect(try event.new.keys() == world.keys())
      return "\(event.words) | \(try event.new.keys())"
    }
  }

  @Test("JK17 assigning reports one assignment, also of an empty list")
  func assigning() throws {
    #expect(
      try events(from: [1]) { try $0.assign([]) } == ["assign p1 0→NF | -0 | []"])
    #expect(
      try events(from: []) { try $0.assign([2, 3]) }
        == ["assign p2 NF→0 p3 NF→1 | +0 +1 | [2, 3]"])
    #expect(
      try events(from: [1, 2, 3, 4]) { try $0.assign([1, 5, 4]) }
        == ["assign p2 1→NF p3 2→NF p5 NF→1 | -1 -2 +1 | [1, 5, 4]"])
    // A list is never nil, so an empty list that stays empty is not a change.
    #expect(try events(from: []) { try $0.assign([]) } == [])
  }

  @Test("JK18 appending to an empty list reports index 0")
  func appendingToAnEmptyList() throws {
    #expect(try events(from: []) { try $0.append(1) } == ["append p1 NF→0 | +0 | [1]"])
  }

  @Test("JK19 inserting in the middle reports the index")
  func inserting() throws {
    #expect(
      try events(from: [1, 2]) { try $0.insert(3, at: 1) }
        == ["insert p3 NF→1 | +1 | [1, 3, 2]"])
  }

  @Test("JK20 inserting at the end is reported as an insertion, not as an append")
  func insertingAtTheEnd() throws {
    #expect(
      try events(from: [1, 2]) { try $0.insert(3, at: 2) }
        == ["insert p3 NF→2 | +2 | [1, 2, 3]"])
  }

  @Test("JK21 removing the last element reports its index")
  func removingTheLast() throws {
    #expect(
      try events(from: [1, 2, 3]) { try $0.removeLast() }
        == ["removeLast p3 2→NF | -2 | [1, 2]"])
  }

  @Test("JK22 removing in the middle reports the index")
  func removing() throws {
    #expect(
      try events(from: [1, 2, 3]) { try $0.remove(at: 1) } == ["remove p2 1→NF | -1 | [1, 3]"])
  }

  @Test("JK23 replacing reports the old element, then the new one")
  func replacing() throws {
    #expect(
      try events(from: [1, 2, 3]) { try $0.replace(at: 2, with: 4) }
        == ["replace p3 2→NF p4 NF→2 | -2 +2 | [1, 2, 4]"])
  }

  @Test("JK24 appending several is one operation")
  func appendingSeveral() throws {
    #expect(
      try events(from: [1, 2]) { try $0.append(contentsOf: [3, 4]) }
        == ["append p3 NF→2 p4 NF→3 | +2 +3 | [1, 2, 3, 4]"])
  }

  @Test("JK25 swapping two elements reports both with their indices")
  func exchanging() throws {
    #expect(
      try events(from: [1, 2, 3, 4]) { try $0.swapAt(2, 3) }
        == ["exchange p3 2→3 p4 3→2 | 3→2 | [1, 2, 4, 3]"])
    #expect(
      try events(from: [1, 2, 3, 4]) { try $0.swapAt(3, 0) }
        == ["exchange p1 0→3 p4 3→0 | 3→0 0→3 | [4, 2, 3, 1]"])
  }

  @Test("JK26 removing all elements reports each with its old index")
  func removingAll() throws {
    #expect(
      try events(from: [1, 2, 3, 4]) { try $0.removeAll() }
        == ["removeAll p1 0→NF p2 1→NF p3 2→NF p4 3→NF | -0 -1 -2 -3 | []"])
  }

  @Test("JK27 removing an element that occurs twice reports both old indices")
  func removingEveryOccurrence() throws {
    #expect(
      try events(from: [1, 1]) { try $0.removeAll(equalTo: 1) }
        == ["removeEqual p1 0→NF p1 1→NF | -0 -1 | []"])
    #expect(
      try events(from: [1, 2, 1, 3]) { try $0.removeAll(equalTo: 1) }
        == ["removeEqual p1 0→NF p1 2→NF | -0 -2 | [2, 3]"])
  }

  @Test("JK28 a changed field of an element is reported with index, old value and new value")
  func elementFields() throws {
    let world = try ListWorld(songs: [1])
    let subscription = try world.observe(fields: [\Song.title])
    try world.store.write { tx in try tx.set(\Song.title, to: "2", for: 1) }
    try world.store.write { tx in try tx.set(\Song.plays, to: 2, for: 1) }
    try world.store.write { tx in try tx.set(\Song.title, to: "other", for: 2) }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == [" | 0=0 p1 title 'song 1'→'2'"])
    subscription.cancel()
  }

  @Test("JK29 JK30 after the end nothing is reported", arguments: [true, false])
  func ending(byCancelling: Bool) throws {
    let world = try ListWorld(songs: [1])
    var subscription: ObservationToken? = try world.observe(fields: [\Song.title])
    try world.store.write { tx in try tx.set(\Song.title, to: "2", for: 1) }
    world.store.waitForDelivery()
    #expect(world.told.taken().count == 1)
    if byCancelling { subscription?.cancel() }
    subscription = nil
    try world.edit { try $0.append(2) }
    try world.store.write { tx in try tx.set(\Song.title, to: "3", for: 1) }
    world.store.waitForDelivery()
    #expect(world.told.events.isEmpty)
    #expect(world.store.engine.broker.interests().isEmpty)
  }

  @Test("JK31 an observed list becomes empty when its owner is deleted")
  func theOwnerGoes() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe(fields: [\Song.title])
    try world.store.write { tx in try tx.delete(Mix.self, 1) }
    try world.store.write { tx in try tx.set(\Song.title, to: "2", for: 1) }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == ["unknown | -0 -1"])
    subscription.cancel()
    #expect(world.store.engine.broker.interests().isEmpty)
  }

  @Test("two observers of one list receive the same events, with the list before and after")
  func twoObservers() throws {
    let world = try ListWorld()
    let first = try world.observe()
    let second = try world.observe()
    try world.edit { try $0.append(1) }
    let events = world.told.taken()
    #expect(events.map(\.words) == ["append p1 NF→0 | +0", "append p1 NF→0 | +0"])
    #expect(events.map(\.old.count) == [0, 0])
    #expect(events.map(\.new.count) == [1, 1])
    first.cancel()
    second.cancel()
    #expect(world.store.engine.broker.interests().isEmpty)
  }

  @Test("JK33 added elements are observed at once, removed ones no longer")
  func followingTheList() throws {
    let world = try ListWorld(songs: [1])
    let subscription = try world.observe(fields: [\Song.title])
    func retitle(_ id: Int64) throws -> [String] {
      world.store.waitForDelivery()
      _ = world.told.taken()
      try world.store.write { tx in try tx.set(\Song.title, to: "\(id)!", for: id) }
      try world.store.write { tx in try tx.set(\Song.title, to: "song \(id)", for: id) }
      world.store.waitForDelivery()
      return world.told.taken().map { "\($0.updates.map(\.newIndex))" }
    }
    #expect(try retitle(2) == [])
    try world.edit { try $0.append(2) }
    #expect(try retitle(2) == ["[1]", "[1]"])
    try world.edit { try $0.swapAt(0, 1) }
    #expect(try retitle(2) == ["[0]", "[0]"])
    try world.edit { try $0.replace(at: 0, with: 3) }
    #expect(try retitle(2) == [])
    #expect(try retitle(3) == ["[0]", "[0]"])
    try world.edit { try $0.assign([4, 1, 4]) }
    #expect(try retitle(3) == [])
    #expect(try retitle(4) == ["[0, 2]", "[0, 2]"])
    try world.edit { try $0.remove(at: 0) }
    #expect(try retitle(4) == ["[1]", "[1]"])
    try world.edit { try $0.removeLast() }
    #expect(try retitle(4) == [])
    subscription.cancel()
  }

  @Test("JK-J a change of the list and of its elements is one event that follows the new list")
  func listAndElementsInOneCommit() throws {
    let world = try ListWorld(songs: [1, 2, 1])
    let subscription = try world.observe(fields: [\Song.title, \Song.plays])
    try world.store.write { tx in
      let list = try tx.list(\Mix.songs, of: 1)
      try list.insert(3, at: 0)
      try tx.set(\Song.title, to: "one", for: 1)
      try tx.set(\Song.plays, to: 7, for: 3)
      try list.move(from: 3, to: 1)
      try list.append(1)
    }
    world.store.waitForDelivery()
    #expect(
      world.told.taken().map(\.words) == [
        "insert p3 NF→0, move p1 3→1, append p1 NF→4 | +0 +4 2→1 "
          + "2=1 p1 title 'song 1'→'one' 0=2 p1 title 'song 1'→'one'"
      ])
    subscription.cancel()
  }

  @Test("JK-H an edit without effect writes nothing and reports nothing")
  func noOperations() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    func changeCount() throws -> Int64 {
      try world.store.engine.connections.writer.sync { $0.connection.totalChangeCount }
    }
    let before = try changeCount()
    try world.edit { try $0.replace(at: 1, with: 2) }
    try world.edit { try $0.swapAt(1, 1) }
    try world.edit { try $0.move(from: 1, to: 1) }
    try world.edit { try $0.append(contentsOf: []) }
    try world.edit { list in
      let count = try list.removeAll(equalTo: 9)
      #expect(count == 0)
    }
    try world.edit { try $0.assign([1, 2]) }
    try world.store.write { tx in
      let empty = try tx.list(\Mix.songs, of: 2)
      try empty.removeAll()
      try empty.assign([])
    }
    world.store.waitForDelivery()
    #expect(try changeCount() == before)
    #expect(world.told.events.isEmpty)
    subscription.cancel()
  }

  @Test("JK-H an index out of range is refused, and nothing is changed or reported")
  func refusedIndices() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    let edits: [(borrowing ListEditor<Int64>) throws -> Void] = [
      { try $0.insert(3, at: 3) }, { try $0.insert(3, at: -1) }, { try $0.remove(at: 2) },
      { try $0.remove(at: -1) }, { try $0.replace(at: 2, with: 1) }, { try $0.swapAt(0, 2) },
      { try $0.swapAt(-1, 0) }, { try $0.swapAt(2, 2) }, { try $0.move(from: 2, to: 0) },
      { try $0.move(from: 0, to: 2) }, { try $0.move(from: 0, to: -1) },
    ]
    for edit in edits {
      try world.edit { list in
        #expect(failure { try edit(list) }?.code == .invalidValue)
      }
    }
    try world.store.write { tx in
      let empty = try tx.list(\Mix.songs, of: 2)
      #expect(failure { try empty.removeLast() }?.code == .invalidValue)
    }
    world.store.waitForDelivery()
    #expect(try world.keys() == [1, 2])
    #expect(world.told.events.isEmpty)
    subscription.cancel()
  }

  @Test("JK-H an element without a record is refused, and no element of the call is added")
  func refusedElements() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    let edits: [(borrowing ListEditor<Int64>) throws -> Void] = [
      { try $0.append(99) }, { try $0.append(contentsOf: [3, 99]) }, { try $0.insert(99, at: 1) },
      { try $0.replace(at: 0, with: 99) }, { try $0.assign([3, 99, 2]) },
    ]
    for edit in edits {
      try world.edit { list in
        #expect(failure { try edit(list) }?.code == .rejected)
        let keys = try list.keys()
        #expect(keys == [1, 2])
      }
    }
    #expect(world.told.events.isEmpty)
    try world.edit { list in
      failure { try list.append(contentsOf: [3, 99]) }
      try list.append(4)
    }
    #expect(world.told.taken().map(\.words) == ["append p4 NF→2 | +2"])
    subscription.cancel()
  }

  @Test("JK-D an element that occurs twice is reported at each index until both are removed")
  func elementsThereTwice() throws {
    let world = try ListWorld(songs: [1, 2, 1])
    let subscription = try world.observe(fields: [\Song.title])
    try world.store.write { tx in try tx.set(\Song.title, to: "a", for: 1) }
    try world.edit { try $0.remove(at: 0) }
    try world.store.write { tx in try tx.set(\Song.title, to: "b", for: 1) }
    world.store.waitForDelivery()
    #expect(
      world.told.taken().map(\.words) == [
        " | 0=0 p1 title 'song 1'→'a' 2=2 p1 title 'song 1'→'a'",
        "remove p1 0→NF | -0", " | 1=1 p1 title 'a'→'b'",
      ])
    subscription.cancel()
  }

  @Test("P13 changes that a savepoint or a failure rolls back are not reported")
  func takenBack() throws {
    struct Undo: Error {}
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    try world.store.write { tx in
      try tx.list(\Mix.songs, of: 1).append(3)
      #expect(throws: Undo.self) {
        try tx.savepoint { tx in
          let list = try tx.list(\Mix.songs, of: 1)
          try list.move(from: 0, to: 2)
          try list.append(4)
          try tx.execute("DELETE FROM Mix_songs WHERE element = 2")
          throw Undo()
        }
      }
      try tx.list(\Mix.songs, of: 1).append(5)
    }
    #expect(throws: Undo.self) {
      try world.store.write { tx in
        try tx.list(\Mix.songs, of: 1).removeAll()
        throw Undo()
      }
    }
    _ = try world.store.preview { tx in try tx.list(\Mix.songs, of: 1).removeLast() }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == ["append p3 NF→2, append p5 NF→3 | +2 +3"])
    #expect(try world.keptOrderIsTrue())
    subscription.cancel()
  }

  @Test func aDeletedElementLeavesEveryPlaceAndItsOperationsAreUnknown() throws {
    let world = try ListWorld(songs: [1, 2, 1, 3])
    let subscription = try world.observe(fields: [\Song.title])
    try world.store.write { tx in
      try tx.list(\Mix.songs, of: 1).append(4)
      try tx.delete(Song.self, 1)
    }
    try world.edit { try $0.append(5) }
    #expect(
      world.told.taken().map(\.words) == ["unknown | -0 -2 +2", "append p5 NF→3 | +3"])
    subscription.cancel()
  }

  @Test func changesOfAnotherListAreNotReported() throws {
    let world = try ListWorld(songs: [1])
    let subscription = try world.observe()
    try world.store.write { tx in
      try tx.list(\Mix.songs, of: 2).append(contentsOf: [1, 2])
      try tx.execute("DELETE FROM Mix_songs WHERE owner = 2")
      try tx.list(\Mix.songs, of: 1).append(2)
    }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == ["append p2 NF→1 | +1"])
    subscription.cancel()
  }

  @Test func unknownListsAndFieldsAreRefused() throws {
    let world = try ListWorld()
    #expect(
      failure {
        try world.store.observe(list: \Mix.songs, of: 1, fields: [\Song.shouted]) { _ in }
      }?.code == .unknownField)
    #expect(
      failure { try world.store.observe(list: \Mix.others, of: 1) { _ in } }?.code == .unknownField)
    try world.store.write { _ in
      #expect(
        failure { try world.store.observe(list: \Mix.songs, of: 1) { _ in } }?.code == .misuse)
    }
  }
}

extension Song {
  fileprivate var shouted: String { title.uppercased() }
}

extension Mix {
  fileprivate var others: OrderedList<Song> { songs }
}
