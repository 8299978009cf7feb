import Testing

@testable import ModelStore

/// Several conditions, one verdict.
@Suite(.tags(.unit)) struct GateTests {
  /// What a user types to log in.
  struct Login: Equatable, Sendable {
    var name = ""
    var password = ""
    var remembers = false
  }

  private let asked = Recorder<String>()
  private let login = LiveDraft(Login())

  private func name(_ suffix: String = "") -> GateCheck<String> {
    GateCheck("name\(suffix)", of: login, \.name, "must not be empty") { [asked] in
      asked.add("name \($0)")
      return !$0.isEmpty
    }
  }

  private func password() -> GateCheck<String> {
    GateCheck("password", of: login, \.password, "must be long") { [asked] in
      asked.add("password \($0)")
      return $0.count > 3
    }
  }

  private func remembers(_ predicate: (@Sendable (Bool) -> Bool)? = nil) -> GateCheck<Bool> {
    guard let predicate else { return GateCheck("remembers", of: login, \.remembers) }
    return GateCheck("remembers", of: login, \.remembers, "must be on", predicate)
  }

  private func verdicts(of gate: Gate) -> (Recorder<Gate.Verdict>, ObservationToken) {
    let recorder = Recorder<Gate.Verdict>()
    return (recorder, gate.observe { recorder.add($0) })
  }

  private static func verdict(
    _ isValid: Bool, _ failed: String? = nil, _ message: String = "must not be empty",
    changed: [String] = []
  ) -> Gate.Verdict {
    Gate.Verdict(
      isValid: isValid, failed: failed.map { Gate.Verdict.Failure(name: $0, message: message) },
      changed: changed)
  }

  @Test("GS1 a condition is evaluated on every change of its field and of no other field")
  func firesOnItsFieldOnly() throws {
    let gate = try Gate(name())
    login.password = "secret"
    login.name = "Ada"
    login.name = "Ada"
    login.name = "Bob"
    #expect(asked.events == ["name Ada", "name Bob"])
    #expect(gate.latest?.isValid == true)
  }

  @Test("GS2 a condition outside a gate is never evaluated; a single one is an observation")
  func aLoneCondition() throws {
    _ = name()
    login.name = "Ada"
    #expect(asked.events == [])
    let shop = try WriteCycleTests.Shop()
    let observation = try shop.store.observe(\Album.title, of: 1) { [asked] change in
      asked.add("title \(change.new ?? "")")
    }
    try shop.store.write { tx in try tx.set(\Album.title, to: "Aura", for: 1) }
    shop.store.waitForDelivery()
    #expect(asked.events == ["title Aura"])
    observation.cancel()
  }

  @Test("GS3 a gate owns its conditions: a change of a condition is a change of the gate")
  func ownsItsConditions() throws {
    let gate = try Gate(name(), password())
    let (heard, watching) = verdicts(of: gate)
    login.name = "Ada"
    login.password = "secret"
    #expect(heard.events.map(\.changed) == [["name"], ["password"]])
    watching.cancel()
  }

  @Test("GS4 the changed condition is evaluated first, and its failure ends the evaluation")
  func whatChangedIsAskedFirst() throws {
    let gate = try Gate(name(), password())
    let (heard, watching) = verdicts(of: gate)
    login.password = "abc"
    #expect(asked.events == ["password abc"])
    #expect(
      heard.events == [Self.verdict(false, "password", "must be long", changed: ["password"])])
    watching.cancel()
  }

  @Test("GS5 the others follow in declared order up to the first failure")
  func thenInOrder() throws {
    let gate = try Gate(name(), remembers(), name(" again"), password())
    let (heard, watching) = verdicts(of: gate)
    login.password = "secret"
    #expect(asked.taken() == ["password secret", "name "])
    #expect(heard.taken() == [Self.verdict(false, "name", changed: ["password"])])
    login.remembers = true
    #expect(asked.taken() == ["name "])
    #expect(heard.taken() == [Self.verdict(false, "name", changed: ["remembers"])])
    watching.cancel()
  }

  @Test("GS6 the overall rule is evaluated last and can fail without a failed condition")
  func theOverallRule() throws {
    let gate = try Gate(
      name(), password(),
      overall: { [asked] name, password in
        asked.add("both")
        return name != password
      })
    let (heard, watching) = verdicts(of: gate)
    login.value = Login(name: "same", password: "same")
    #expect(asked.taken() == ["name same", "password same", "both"])
    login.password = "no"
    #expect(asked.taken() == ["password no"])
    login.password = "other"
    #expect(
      heard.events == [
        Self.verdict(false, changed: ["name", "password"]),
        Self.verdict(false, "password", "must be long", changed: ["password"]),
        Self.verdict(true, changed: ["password"]),
      ])
    watching.cancel()
  }

  @Test("GS7 each change gives one verdict, also an unchanged one")
  func oneVerdictForEachChange() throws {
    let gate = try Gate(name())
    let (heard, watching) = verdicts(of: gate)
    for name in ["A", "B", "C"] { login.name = name }
    #expect(heard.events == Array(repeating: Self.verdict(true, changed: ["name"]), count: 3))
    watching.cancel()
    login.name = "D"
    #expect(heard.events.count == 3)
    #expect(gate.latest?.isValid == true)
  }

  @Test("GS8 the latest verdict can be read at any time, and a new one can be requested")
  func onDemand() throws {
    let gate = try Gate(name(), password())
    let (heard, watching) = verdicts(of: gate)
    #expect(gate.latest == nil)
    #expect(asked.events == [])
    #expect(try gate.validate() == Self.verdict(false, "name"))
    #expect(gate.latest == Self.verdict(false, "name"))
    #expect(asked.taken() == ["name "])
    login.value = Login(name: "Ada", password: "secret")
    #expect(gate.latest == Self.verdict(true, changed: ["name", "password"]))
    #expect(try gate.validate() == Self.verdict(true))
    #expect(heard.events.count == 1)
    watching.cancel()
  }

  @Test("GS9 gate and draft may end in either order, and ending twice has no effect")
  func ending() throws {
    var draft: LiveDraft? = LiveDraft(Login())
    weak var seen = draft
    var gate: Gate? = try Gate(
      GateCheck("name", of: try #require(draft), \.name) { !$0.isEmpty })
    weak let seenGate = gate
    draft?.name = "Ada"
    draft = nil
    #expect(seen != nil)
    #expect(try gate?.validate().isValid == true)
    gate = nil
    #expect(seen == nil)
    #expect(seenGate == nil)

    draft = LiveDraft(Login(name: "Ada"))
    seen = draft
    let loose = try Gate(
      GateCheck("name", of: try #require(draft), \.name, holding: .weak) { !$0.isEmpty })
    #expect(try loose.validate().isValid)
    draft = nil
    #expect(seen == nil)
    #expect(try !loose.validate().isValid)
    #expect(loose.end())
    #expect(!loose.end())

    let ended = try Gate(name())
    #expect(ended.end())
    login.name = "Ada"
    #expect(asked.events == [])
  }

  @Test("GS9 an observer that retains the gate's draft causes no retain cycle")
  func noCircle() throws {
    weak var seen: Gate?
    do {
      let draft = LiveDraft(Login())
      let gate = try Gate(GateCheck("name", of: draft, \.name) { !$0.isEmpty })
      seen = gate
      let watching = gate.observe { _ in _ = draft.name }
      draft.name = "Ada"
      watching.cancel()
    }
    #expect(seen == nil)
  }

  @Test("GS10 a login is allowed only while all of its fields are valid")
  func aLogin() throws {
    let gate = try Gate(name(), password(), remembers { $0 })
    for bits in [0, 1, 3, 7, 6, 7, 5, 7, 2, 4, 7] {
      login.value = Login(
        name: bits & 1 > 0 ? "Ada" : "", password: bits & 2 > 0 ? "secret" : "s",
        remembers: bits & 4 > 0)
      #expect((gate.latest ?? Self.verdict(false)).isValid == (bits == 7))
    }
  }

  @Test("GS10 an unknown field is refused, and so is a record shown in another cell")
  func recordsInCells() throws {
    let shop = try WriteCycleTests.Shop()
    #expect(
      failure { try shop.store.check("first", \Album.title.shouted, of: 1) { !$0.isEmpty } }?.code
        == .unknownField)
    func gate(_ key: Int64) throws -> Gate {
      try Gate(shop.store.check("title", \Album.title, of: key) { $0.count > 4 })
    }
    var cell = try gate(1)
    #expect(try cell.validate().isValid)
    cell = try gate(2)
    try shop.store.write { tx in try tx.set(\Album.title, to: "T", for: 1) }
    shop.store.waitForDelivery()
    #expect(cell.latest == nil)
    #expect(try !cell.validate().isValid)
  }

  @Test("GS11 any reduction can replace AND, and stops when the result is known")
  func reductions() throws {
    let cases: [(Gate.Reduction, [Bool])] = [
      (.any, [false, true, true, true, true, true, true, true]),
      (.atLeast(2), [false, false, false, true, false, true, true, true]),
      (.weight(atLeast: 3), [false, false, false, false, true, true, true, true]),
      (.custom { $0.count { $0 } == 1 }, [false, true, true, false, true, false, false, false]),
    ]
    for (reduction, expected) in cases {
      let draft = LiveDraft(Login())
      let gate = try Gate(
        GateCheck("name", of: draft, \.name) { !$0.isEmpty },
        GateCheck("password", of: draft, \.password) { !$0.isEmpty },
        GateCheck("remembers", of: draft, \.remembers) { $0 }.weighing(3), reduction: reduction)
      for (bits, isValid) in expected.enumerated() {
        draft.value = Login(
          name: bits & 1 > 0 ? "a" : "", password: bits & 2 > 0 ? "a" : "",
          remembers: bits & 4 > 0)
        #expect(try gate.validate().isValid == isValid, "\(reduction) \(bits)")
      }
    }
    let gate = try Gate(name(), name(" again"), password(), reduction: .atLeast(2))
    login.name = "Ada"
    #expect(asked.taken() == ["name Ada", "name Ada"])
    #expect(gate.latest?.isValid == true)
    login.name = ""
    #expect(asked.taken() == ["name ", "name "])
    #expect(gate.latest == Self.verdict(false, "name", changed: ["name", "name again"]))
  }

  @Test func aCommitIsOneChangeHoweverManyRecordsItTouches() throws {
    let shop = try WriteCycleTests.Shop()
    let store = shop.store
    let gate = try Gate(
      store.check("title 1", \Album.title, of: 1, "must be long") { $0.count > 3 },
      store.check("title 2", \Album.title, of: 2, "must be long") { $0.count > 3 },
      store.check("artist", \Album.artistID, of: 1, "must be known") { $0 != nil },
      store.check("name", \Artist.name, of: 1) { !$0.isEmpty })
    let (heard, watching) = verdicts(of: gate)
    try store.write { tx in
      try tx.set(\Album.title, to: "Aura", for: 1)
      try tx.set(\Album.title, to: "no", for: 2)
      try tx.set(\Artist.name, to: "Davis", for: 1)
    }
    try store.write { tx in try tx.set(\Album.artistName, to: "nobody asks", for: 1) }
    try store.write { tx in try tx.set(\Album.title, to: "Tutu", for: 2) }
    try store.write { tx in _ = try tx.delete(Album.self, 1) }
    try store.write { tx in try tx.insert(Album(id: 1, title: "Aura", artistID: 1)) }
    store.waitForDelivery()
    #expect(
      heard.events == [
        Self.verdict(false, "title 2", "must be long", changed: ["title 1", "title 2", "name"]),
        Self.verdict(true, changed: ["title 2"]),
        Self.verdict(false, "title 1", "must be long", changed: ["title 1", "artist"]),
        Self.verdict(true, changed: ["title 1", "artist"]),
      ])
    watching.cancel()
  }

  @Test func writesOfAnotherProgramAreCheckedAgain() throws {
    let shop = try WriteCycleTests.Shop()
    let gate = try Gate(shop.store.check("title", \Album.title, of: 1) { $0.count > 3 })
    try PlainDatabase(shop.store.path).execute("UPDATE Album SET title = 'no' WHERE id = 1")
    try shop.store.refresh()
    shop.store.waitForDelivery()
    #expect(gate.latest == Self.verdict(false, "title", "is not valid", changed: ["title"]))
  }

  @Test func aGateGuardsAWrite() throws {
    let shop = try WriteCycleTests.Shop()
    let store = shop.store
    let gate = try Gate(
      name(), store.check("title", \Album.title, of: 1, "must be blue") { $0 == "Blue" })
    func write() throws {
      try store.write(if: gate) { tx in try tx.set(\Album.title, to: "Green", for: 1) }
    }
    func violations() -> [Violation]? { failure { try write() }?.violations }
    #expect(
      violations() == [
        Violation(kind: .gate, model: "", rule: "name", message: "must not be empty")
      ])
    login.name = "Ada"
    #expect(
      violations() == [
        Violation(
          kind: .gate, model: "Album", key: [.integer(1)], fields: ["title"], rule: "title",
          message: "must be blue")
      ])
    // The gate reads the records of the file, although it was not notified yet.
    try PlainDatabase(store.path).execute("UPDATE Album SET title = 'Blue' WHERE id = 1")
    try write()
    #expect(try store.find(Album.self, 1)?.title == "Green")
  }

  @Test func whileItIsPausedTheLatestVerdictWaits() throws {
    let gate = try Gate(name())
    let (heard, watching) = verdicts(of: gate)
    watching.pause()
    for name in ["A", "B", ""] { login.name = name }
    #expect(heard.events == [])
    watching.resume()
    #expect(heard.taken() == [Self.verdict(false, "name", changed: ["name"])])
    login.name = "C"
    #expect(heard.taken() == [Self.verdict(true, changed: ["name"])])
    watching.cancel()
    login.name = "D"
    #expect(heard.events == [])
  }

  @Test func verdictsAreASequenceToo() async throws {
    let gate = try await Gate(name())
    var loop = gate.verdicts.makeAsyncIterator()
    login.name = "Ada"
    #expect(await loop.next() == Self.verdict(true, changed: ["name"]))
    login.name = ""
    login.name = "Bob"
    #expect(await loop.next() == Self.verdict(true, changed: ["name"]))
  }

  @Test func changesOfManyThreadsArriveOneAtATimeAndNoneIsLost() async throws {
    let draft = LiveDraft(0)
    let running = Recorder<Int>()
    let gate = try await Gate(GateCheck("count", of: draft, \.self) { _ in true })
    let watching = gate.observe { _ in running.add(1) }
    await withTaskGroup(of: Void.self) { group in
      for worker in 1...4 {
        group.addTask {
          for step in 1...500 { draft.value = worker * 1000 + step }
        }
      }
    }
    // A thread that found another thread delivering has left its changes to that thread.
    draft.value = -1
    #expect(running.events.count == 2001)
    watching.cancel()
  }
}

extension String {
  /// Not a stored field, although it looks like one.
  fileprivate var shouted: String { uppercased() }
}
