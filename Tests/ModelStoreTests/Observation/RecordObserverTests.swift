import Testing

@testable import ModelStore

@Suite struct RecordObserverTests {
  /// Each delivery once wrapped the callback in one more function, so that a commit seen by an
  /// observer cost more the longer the observer lived, until the stack ran out.
  @Test func theThousandthDeliveryCallsAsDirectlyAsTheFirst() {
    let observer = RecordObserver(
      interest: ChangeBroker.Interest(model: "Artist", key: nil, fields: nil),
      schema: Artist.schema,
      names: nil,
      capacity: 1)
    let places = Recorder<UInt>()
    observer.whenReady { _ in
      var local = 0
      places.add(withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) })
    }
    for version in 1...1000 as ClosedRange<UInt64> {
      let commit = ChangeBroker.Commit(
        changes: ChangeSet(version: version, changes: []), isReset: true)
      #expect(observer.note(commit))
      observer.deliver()
    }
    #expect(places.events.count == 1000)
    #expect(Set(places.events).count == 1)
  }
}
