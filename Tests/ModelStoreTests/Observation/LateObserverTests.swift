import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct LateObserverTests {
  /// Once, an observer that was added after the transaction's capture was planned received nothing
  /// of it.
  @Test func anObserverAddedDuringATransactionReadsAgain() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("late.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "before")) }
    let recorder = Recorder<String>()
    var subscription: ObservationToken?
    try store.write { tx in
      subscription = try store.observe(\Artist.name, of: 1) { change in
        recorder.add("\(change.old ?? "-") → \(change.new ?? "-"), reset: \(change.isReset)")
      }
      try tx.set(\Artist.name, to: "during", for: 1)
    }
    try store.write { tx in try tx.set(\Artist.name, to: "after", for: 1) }
    store.waitForDelivery()
    // The reset reads the record when it is delivered, which may be after the second commit.
    #expect(recorder.events.count == 2)
    #expect(recorder.events.first?.hasSuffix("reset: true") == true)
    #expect(recorder.events.last == "during → after, reset: false")
    subscription?.cancel()
  }
}
