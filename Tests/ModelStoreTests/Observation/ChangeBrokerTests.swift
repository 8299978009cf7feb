import Synchronization
import Testing

@testable import ModelStore

/// Which observers are notified of which commit, without a database.
@Suite(.tags(.unit)) struct ChangeBrokerTests {
  private final class Witness: ChangeBroker.Observer {
    let commits = Recorder<String>()
    /// How often its interests were asked for.
    let askings = Recorder<Void>()
    private let interest: ChangeBroker.Interest
    private let outcomes: Mutex<[ChangeBroker.Outcome]>

    convenience init(_ model: String, outcomes: [ChangeBroker.Outcome] = []) {
      self.init(ChangeBroker.Interest(model: model), outcomes: outcomes)
    }

    init(_ interest: ChangeBroker.Interest, outcomes: [ChangeBroker.Outcome] = []) {
      self.interest = interest
      self.outcomes = Mutex(outcomes)
    }

    var interests: [ChangeBroker.Interest] {
      askings.add(())
      return [interest]
    }

    var model: String { interest.model }

    func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
      commits.add(
        "\(commit.version): \(commit.changes.count)\(commit.isReset ? " reset" : "")"
      )
      return outcomes.withLock { $0.isEmpty ? [] : $0.removeFirst() }
    }

    func deliver(upTo version: UInt64) {}
  }

  private static func change(_ model: String) -> RecordChange {
    RecordChange(
      model: model, key: [.integer(1)], old: nil, new: [.integer(1)], fields: [], origin: .user,
      isRecreated: false)
  }

  @Test func anObserverThatFailedIsResetByTheNextCommitOfAnyModel() {
    let broker = ChangeBroker()
    let failing = Witness("A", outcomes: [.failed, .failed, .ready])
    let other = Witness("B")
    let ends = [broker.add(failing), broker.add(other)]
    broker.publish(ChangeBroker.Announcement(changes: [Self.change("A")]))
    #expect(broker.hasFailed)
    broker.publish(ChangeBroker.Announcement(changes: [Self.change("B")]))
    broker.publish(.nothing)
    #expect(!broker.hasFailed)
    broker.publish(ChangeBroker.Announcement(changes: [Self.change("B")]))
    broker.publish(ChangeBroker.Announcement(changes: [Self.change("A")]))
    #expect(failing.commits.events == ["1: 1", "2: 0 reset", "3: 0 reset", "5: 1"])
    #expect(other.commits.events == ["2: 1", "4: 1"])
    for end in ends { end() }
  }

  @Test func anObserverThatFailedAndEndedIsForgotten() {
    let broker = ChangeBroker()
    let end = broker.add(Witness("A", outcomes: [.failed]))
    broker.publish(ChangeBroker.Announcement(changes: [Self.change("A")]))
    end()
    #expect(!broker.hasFailed)
  }

  @Test func anObserverThatIsResetReceivesNoPartialChanges() {
    let broker = ChangeBroker()
    let early = Witness("A")
    let late = Witness("A")
    let ends = [broker.add(early)] + [broker.add(late)]
    broker.publish(
      ChangeBroker.Announcement(
        changes: [Self.change("A")], knownObserver: broker.latestObserver - 1))
    #expect(early.commits.events == ["1: 1"])
    #expect(late.commits.events == ["1: 0 reset"])
    for end in ends { end() }
  }

  /// Nothing may read the file then. So an observer that begins just before must wait.
  @Test func anObserverThatIsResetWaitsForAStateThatItCanRead() {
    let broker = ChangeBroker()
    let early = Witness("A")
    let late = Witness("A")
    let ends = [broker.add(early)] + [broker.add(late)]
    let changes = [Self.change("A")]
    broker.publish(
      ChangeBroker.Announcement(
        changes: changes, knownObserver: broker.latestObserver - 1, isHeld: false))
    #expect(early.commits.events == ["1: 1"])
    #expect(late.commits.events == [])
    #expect(broker.hasFailed)
    broker.publish(.nothing)
    #expect(late.commits.events == ["2: 0 reset"])
    #expect(!broker.hasFailed)
    for end in ends { end() }
  }

  @Test func aCommitMayBeReadByReadersOfItAndByObserversThatAreReset() {
    final class Reader: ChangeBroker.Observer {
      let interests = [ChangeBroker.Interest(model: "B")]
      let readsFile = true
      let mayReadFile = true
      func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome { [] }
      func deliver(upTo version: UInt64) {}
    }
    let broker = ChangeBroker()
    let changes = [Self.change("A")]
    #expect(!broker.mayRead(changes, knownObserver: 0))
    let ends = [broker.add(Witness("A", outcomes: [.failed])), broker.add(Reader())]
    let all = broker.latestObserver
    #expect(!broker.mayRead(changes, knownObserver: all))
    #expect(broker.mayRead(changes, knownObserver: all - 1))
    #expect(broker.mayRead(changes + [Self.change("B")], knownObserver: all))
    #expect(!broker.mayRead([], knownObserver: all))
    broker.publish(ChangeBroker.Announcement(changes: changes))
    #expect(broker.mayRead([], knownObserver: all))
    for end in ends { end() }
    #expect(!broker.mayRead(changes, knownObserver: 0))
  }

  /// There may be very many observers, and the broker is locked meanwhile.
  @Test func observersOfAResetModelAreKnownWithoutCallingThem() {
    let broker = ChangeBroker()
    let schema = ModelSchema(
      name: "A",
      fields: [FieldSchema(name: "id", type: .integer), FieldSchema(name: "n", type: .integer)],
      key: ["id"])
    let range = ValueRange(
      field: 1, collation: .binary, lower: .start,
      upper: .before(ValueRange.place(of: .integer(5), .binary)))
    let records: [ChangeBroker.Interest.Records] = [
      .all, .one([.integer(1)], of: schema), .one([.integer(1)], of: schema),
      .one([.integer(2)], of: schema), .having(field: 1, value: .integer(3)), .within(range),
    ]
    let witnesses = records.map { Witness(ChangeBroker.Interest(model: "A", records: $0)) }
    let other = Witness("B")
    let ends = (witnesses + [other]).map { broker.add($0) }
    let before = witnesses.map(\.askings.events.count)
    broker.publish(ChangeBroker.Announcement(resetModels: ["A"]))
    #expect(witnesses.map(\.commits.events) == records.map { _ in ["1: 0 reset"] })
    #expect(other.commits.events == [])
    #expect(witnesses.map(\.askings.events.count) == before)
    for end in ends { end() }
  }
}
