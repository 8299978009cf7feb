import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct RecordObserverTests {
  /// Each delivery once wrapped the callback in one more function, so that a commit seen by an
  /// observer cost more the longer the observer lived, until the stack ran out.
  @Test func theThousandthDeliveryCallsAsDirectlyAsTheFirst() {
    let observer = RecordObserver(
      ObservedFields(Artist.schema, fields: nil, counted: nil), of: nil,
      coalescing: .latest)
    let places = Recorder<UInt>()
    observer.whenReady { _ in
      var local = 0
      places.add(withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) })
    }
    for version in 1...1000 as ClosedRange<UInt64> {
      let commit = ChangeBroker.Commit(
        changes: ChangeSet(version: version, changes: []), isReset: true)
      #expect(observer.note(commit) == .ready)
      observer.deliver(upTo: .max)
    }
    #expect(places.events.count == 1000)
    #expect(Set(places.events).count == 1)
  }

  private static func update(
    _ title: (String, String), _ artist: (String, String), _ version: UInt64
  )
    -> ChangeBroker.Commit
  {
    let names = Album.schema.fields.map(\.name)
    func image(_ title: String, _ artist: String) -> [SQLValue] {
      [.integer(1), .text(title), .null, .text(artist)]
    }
    let (old, new) = (image(title.0, artist.0), image(title.1, artist.1))
    let fields = names.indices.filter { old[$0] != new[$0] }.map {
      ChangedField(name: names[$0], old: old[$0], new: new[$0], origin: .user)
    }
    let change = RecordChange(
      model: "Album", key: [.integer(1)], old: old, new: new, fields: fields, origin: .user,
      isRecreated: false)
    return ChangeBroker.Commit(
      changes: ChangeSet(version: version, changes: [change]), isReset: false)
  }

  /// Coalesced commits after which the observed field has its first value concern no observer.
  @Test func coalescedCommitsAreFilteredAgain() {
    let observer = RecordObserver(
      ObservedFields(Album.schema, fields: nil, counted: [1]), of: nil,
      coalescing: .latest)
    let received = Recorder<UInt64>()
    observer.whenReady { received.add($0.version) }
    #expect(observer.note(Self.update(("a", "b"), ("x", "x"), 1)) == .ready)
    #expect(observer.note(Self.update(("b", "a"), ("x", "y"), 2)) == [])
    observer.deliver(upTo: .max)
    #expect(received.events == [])
    #expect(observer.note(Self.update(("a", "c"), ("y", "y"), 3)) == .ready)
    observer.deliver(upTo: .max)
    #expect(received.events == [3])
  }

  /// What waits holds the observer that it is for.
  @Test func anEndedObserverIsReleasedThoughEventsWait() {
    var observer: RecordObserver? = RecordObserver(
      ObservedFields(Artist.schema, fields: nil, counted: nil), of: nil,
      coalescing: .every)
    weak let kept = observer
    observer?.whenReady { _ in }
    let reset = ChangeBroker.Commit(changes: ChangeSet(version: 1, changes: []), isReset: true)
    #expect(observer?.note(reset) == .ready)
    observer?.end()
    observer = nil
    #expect(kept == nil)
  }
}
