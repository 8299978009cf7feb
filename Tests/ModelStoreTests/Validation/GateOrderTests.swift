import Dispatch
import Synchronization
import Testing

@testable import ModelStore

/// Whatever changes on whatever thread, a gate ends on what is.
@Suite(.tags(.unit)) struct GateOrderTests {
  @Test func theLastChangeArrivesLast() throws {
    for _ in 1...200 {
      let draft = LiveDraft(0)
      let told = Mutex(0)
      let (_, end) = draft.observe { value in told.withLock { $0 = value } }
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for step in 1...25 { draft.value = thread * 1_000 + step }
      }
      #expect(told.withLock { $0 } == draft.value)
      end()
    }
  }

  @Test func anObserverAddedDuringANotificationDoesNotReceiveItAgain() {
    let draft = LiveDraft(0)
    let late = Recorder<Int>()
    let ends = Recorder<@Sendable () -> Void>()
    let (_, end) = draft.observe { [weak draft] value in
      guard value == 1, let draft else { return }
      draft.value = 2
      let (seen, end) = draft.observe { late.add($0) }
      late.add(seen)
      ends.add(end)
    }
    draft.value = 1
    draft.value = 3
    #expect(late.events == [2, 3])
    for end in ends.events + [end] { end() }
  }

  @Test func aRequestedVerdictDoesNotReplaceALaterOne() throws {
    let draft = LiveDraft("")
    let isFirst = Mutex(true)
    let gate = try Gate(
      GateCheck("name", of: draft, \.self, "must not be empty") { [weak draft] name in
        let isNow = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        // The user types while the values that were read are checked.
        if isNow { draft?.value = "Ada" }
        return !name.isEmpty
      })
    #expect(try gate.validate().isValid == false)
    #expect(gate.latest?.isValid == true)
    #expect(try gate.validate() == gate.latest)
  }

  @Test func aLoopOverVerdictsEndsWithTheGate() async throws {
    let draft = LiveDraft(0)
    let ended = try await Gate(GateCheck("positive", of: draft, \.self) { $0 > 0 })
    let verdicts = ended.verdicts
    draft.value = 1
    ended.end()
    var heard: [Bool] = []
    for await verdict in verdicts { heard.append(verdict.isValid) }
    #expect(heard == [true])
    for await _ in ended.verdicts { Issue.record("A gate that has ended reports nothing.") }
    var dropped: Gate? = try await Gate(GateCheck("positive", of: draft, \.self) { $0 > 0 })
    let rest = try #require(dropped?.verdicts)
    dropped = nil
    for await _ in rest { Issue.record("A released gate reports nothing.") }
  }

  @Test func aBodyThatFallsFarBehindSkipsTheOldest() {
    let told = Recorder<Int>()
    @Sendable func verdict(_ number: Int) -> Gate.Verdict {
      Gate.Verdict(isValid: true, failed: nil, changed: ["\(number)"])
    }
    let count = 3 * VerdictOutlet.waitingCountMax
    let itself = Mutex<VerdictOutlet?>(nil)
    let outlet = VerdictOutlet(
      { heard in
        told.add(Int(heard.changed[0]) ?? -1)
        guard heard.changed == ["0"] else { return }
        for number in 1..<count { itself.withLock { $0 }?.tell(verdict(number)) }
      }, whenOver: {})
    itself.withLock { $0 = outlet }
    outlet.tell(verdict(0))
    #expect(told.events == [0] + (2 * VerdictOutlet.waitingCountMax..<count))
    itself.withLock { $0 = nil }
  }

  /// Once, all notes of a gate that fell behind were scanned for each new one.
  @Test func aGateThatFallsBehindChecksEachOfItsRecords() throws {
    let shop = try MusicShop { $0.durability = .normal }
    let gate = try Gate(
      try shop.store.check("one", \Album.title, of: 1) { $0 == "last" },
      try shop.store.check("two", \Album.title, of: 2) { $0 == "second" })
    let hold = DispatchGate()
    let block = try shop.store.observe(\Album.title, of: 3) { _ in hold.wait() }
    try shop.setTitle("hold", of: 3)
    try shop.setTitle("second", of: 2)
    for number in 1...1_100 { try shop.setTitle("\(number)") }
    try shop.setTitle("last")
    hold.open()
    shop.settle()
    #expect(gate.latest?.isValid == true)
    block.cancel()
  }
}
