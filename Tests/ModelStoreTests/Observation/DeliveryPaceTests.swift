import Testing

@testable import ModelStore

/// The thread of the delivery queue stays awake for the next commit, and never keeps a thread that
/// waits for the queue. Here it would stay awake forever.
@Suite(.tags(.unit), .timeLimit(.minutes(60))) struct DeliveryPaceTests {
  private let broker = ChangeBroker(pace: DeliveryPace(moment: .max))
  private let told = Recorder<Int>()

  @Test func turnsRunInTheirOrderWhileTheThreadStaysAwake() {
    for number in 1...100 { broker.enqueue { [told] in told.add(number) } }
    broker.drain()
    #expect(told.events == Array(1...100))
  }

  @Test func aThreadThatWaitsForTheQueueEndsThePause() {
    for number in 1...3 {
      broker.enqueue { [told] in told.add(number) }
      broker.drain()
      #expect(told.events.count == number)
    }
    broker.enqueue { [told] in told.add(4) }
    broker.drainAnswers()
    #expect(told.events == [1, 2, 3, 4])
  }

  @Test func aTaskThatWaitsForTheQueueEndsThePause() async {
    for number in 1...3 {
      broker.enqueue { [told] in told.add(number) }
      await broker.delivered()
      #expect(told.events.count == number)
    }
    broker.enqueue { [told] in told.add(4) }
    await broker.answered()
    #expect(told.events == [1, 2, 3, 4])
  }

  @Test func aWriterThatWaitsForItsObserversEndsThePause() {
    broker.enqueue(for: [.ready, .awaited]) { [told] in told.add(1) }
    broker.settle(broker.awaitedCount)
    #expect(told.events == [1])
  }

  @Test func aTaskThatWaitsForItsObserversEndsThePause() async {
    broker.enqueue(for: [.ready, .awaited]) { [told] in told.add(1) }
    await broker.settle(broker.awaitedCount)
    #expect(told.events == [1])
  }

  @Test func aTurnWithoutACloseOneBeforeEndsAtOnce() {
    let pace = DeliveryPace(moment: 0)
    pace.turn {}
    pace.turn {}
    #expect(pace.queuedCount == 0)
  }
}
