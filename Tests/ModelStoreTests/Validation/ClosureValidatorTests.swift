import Synchronization
import Testing

@testable import ModelStore

/// Validators of fields, of records, of several records and of whole transactions.
@Suite(.tags(.unit)) struct ClosureValidatorTests {
  private typealias Shop = WriteCycleTests.Shop

  private static func logged(
    _ asked: Recorder<String>, rejecting: Bool = false
  ) -> [Validator] {
    @Sendable func verdict<M>(_ message: String) -> ValidationResult<M> {
      rejecting ? .reject(message) : .accept
    }
    return [
      Validator("whole", over: Album.self, Artist.self) { changes, _ in
        asked.add("whole \(changes.changes.map(\.model).joined(separator: "+"))")
        return rejecting ? [Rejection("is wrong")] : []
      },
      Validator("record", Album.self) { change, _ in
        asked.add("record \(change.change.key[0])")
        return verdict("is wrong as a record")
      },
      Validator("title", \Album.title) { old, new, _ in
        asked.add("title \(old ?? "nothing") → \(new)")
        return verdict("is wrong as a title")
      },
      Validator("together", together: Album.self) { changes, _ in
        asked.add("together \(changes.count)")
        return rejecting
          ? .reject("is wrong with others", \.title, key: changes[0].new?.id) : .accept
      },
      Validator("artist", \Album.artistID) { old, new, _ in
        asked.add("artist \(old.map { "\($0 ?? 0)" } ?? "nothing") → \(new ?? 0)")
        return verdict("is wrong as an artist")
      },
    ]
  }

  @Test("GS4 GS5 GS6 changed fields are checked first, then the others in order, the whole last")
  func order() throws {
    let asked = Recorder<String>()
    let shop = try Shop(Self.logged(asked))
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "Aura", for: 2)
      try tx.insert(Album(id: 3, title: "Tutu"))
    }
    #expect(
      asked.taken() == [
        "title Blue → Aura", "title nothing → Tutu", "artist nothing → 0", "record 2", "record 3",
        "together 2", "whole Album+Album",
      ])
  }

  @Test func onlyTouchedRecordsAreValidated() throws {
    let asked = Recorder<String>()
    let shop = try Shop(Self.logged(asked))
    try shop.store.write { tx in try tx.set(\Artist.name, to: "Davis", for: 1) }
    #expect(asked.taken() == ["whole Artist"])
    try shop.store.write { tx in try tx.set(\Album.artistName, to: "D", for: 1) }
    #expect(asked.taken() == ["record 1", "together 1", "whole Album"])
    try shop.store.write { tx in try tx.set(\Album.title, to: "So What", for: 1) }
    #expect(asked.taken() == [])
    try shop.store.write { tx in _ = try tx.delete(Album.self, 2) }
    #expect(asked.taken() == ["record 2", "together 1", "whole Album"])
  }

  @Test func allValidatorsReportUnlessTheFirstFailureIsEnough() throws {
    for stopsAtFirst in [false, true] {
      let asked = Recorder<String>()
      var configuration = StoreConfiguration()
      configuration.refusals.stopsAtFirst = stopsAtFirst
      let shop = try Shop(Self.logged(asked, rejecting: true), configuration)
      let error = try shop.refusal { tx in
        try tx.set(\Album.title, to: "A", for: 1)
        try tx.set(\Album.title, to: "B", for: 2)
      }
      let all: [(String, Int64?, String)] = [
        ("title", 1, "is wrong as a title"), ("title", 2, "is wrong as a title"),
        ("record", 1, "is wrong as a record"), ("record", 2, "is wrong as a record"),
        ("together", 1, "is wrong with others"), ("whole", nil, "is wrong"),
      ]
      let expected = stopsAtFirst ? Array(all.prefix(1)) : all
      #expect(
        error?.violations
          == expected.map { rule, key, message in
            Violation(
              kind: .validator, model: key == nil ? "" : "Album",
              key: key.map { [.integer($0)] },
              fields: ["title", "together"].contains(rule) ? ["title"] : [], rule: rule,
              message: message)
          })
      #expect(error?.violationCount == expected.count)
      #expect(asked.events.count == (stopsAtFirst ? 1 : 6))
    }
  }

  @Test func ofTenThousandViolationsAllAreCountedAndTheFirstAreListed() throws {
    let short = Validator("short", \Album.title) { _, new, _ in
      new.count > 6 ? .reject("must be short") : .accept
    }
    let shop = try Shop([short])
    try shop.store.write { tx in
      for id in 3...10_002 { try tx.insert(Album(id: Int64(id), title: "T\(id)")) }
    }
    shop.store.waitForDelivery()
    _ = shop.recorder.taken()
    let error = try shop.refusal { tx in
      try tx.execute("UPDATE Album SET title = title || ' (again)' WHERE id > 2")
    }
    #expect(error?.violationCount == 10_000)
    #expect(error?.violations.count == 100)
    #expect(error?.violations.first?.key == [.integer(3)])
    #expect(error?.message.contains("(and 9999 more)") == true)
  }

  @Test func valuesAreReportedOnlyWhenRequested() throws {
    for includesValues in [false, true] {
      var configuration = StoreConfiguration()
      configuration.refusals.includesValues = includesValues
      let secret = Validator("secret", \Album.title) { _, new, _ in
        new == "secret" ? .reject("must not be that") : .accept
      }
      let shop = try Shop([secret], configuration)
      let error = try shop.refusal { tx in try tx.set(\Album.title, to: "secret", for: 1) }
      #expect(error?.violations.map(\.values) == [includesValues ? [.text("secret")] : nil])
      #expect(error.map { "\($0)".contains("secret must") } == false)
    }
  }

  @Test func aValidatorOfAFieldReceivesOnlyTheNetChangeOfThatField() throws {
    let asked = Recorder<String>()
    let shop = try Shop([Self.logged(asked)[2]])
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "X", for: 1)
      try tx.set(\Album.title, to: "Y", for: 1)
      try tx.set(\Album.title, to: "Z", for: 2)
      try tx.set(\Album.title, to: "Blue", for: 2)
    }
    #expect(asked.taken() == ["title So What → Y"])
  }

  @Test func aValidatorOfTwoFieldsRunsWhenOneOfThemChanges() throws {
    let asked = Recorder<String>()
    let both = Validator("both", \Album.title, \Album.artistID) { old, new, _ in
      asked.add("\(old?.0 ?? "nothing") \(old?.1 ?? 0) → \(new.0) \(new.1 ?? 0)")
      return new.0 == "Bad" ? .reject("must not be") : .accept
    }
    let shop = try Shop([both])
    try shop.store.write { tx in try tx.set(\Album.artistName, to: "D", for: 1) }
    try shop.store.write { tx in try tx.set(\Album.artistID, to: nil, for: 1) }
    try shop.store.write { tx in try tx.insert(Album(id: 3, title: "Tutu", artistID: 1)) }
    try shop.store.write { tx in _ = try tx.delete(Album.self, 3) }
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "T", for: 2)
      try tx.set(\Album.title, to: "Blue", for: 2)
    }
    #expect(asked.taken() == ["So What 1 → So What 0", "nothing 0 → Tutu 1"])
    shop.store.waitForDelivery()
    _ = shop.recorder.taken()
    let error = try shop.refusal { tx in try tx.set(\Album.title, to: "Bad", for: 2) }
    #expect(error?.violations.map(\.fields) == [["title", "artistID"]])
    #expect(error?.violations.map(\.key) == [[.integer(2)]])
  }

  @Test func valuesAreReportedForRecordsThatAreCheckedTogether() throws {
    var configuration = StoreConfiguration()
    configuration.refusals.includesValues = true
    let together = Validator("together", together: Album.self) { changes, _ in
      .reject("is wrong", \.title, key: changes.last?.new?.id).and(.reject("is wrong", \.title))
    }
    let shop = try Shop([together], configuration)
    let error = try shop.refusal { tx in try tx.execute("UPDATE Album SET title = title || '!'") }
    #expect(error?.violations.map(\.values) == [[.text("Blue!")], nil])
  }

  @Test func aRejectionThatNamesNoStoredFieldIsAnError() throws {
    let lost = Validator("lost", Album.self) { _, _ in .reject("is wrong", \.title.computed) }
    let shop = try Shop([lost])
    let error = try shop.refusal { tx in try tx.set(\Album.title, to: "T", for: 1) }
    #expect(error?.code == .unknownField)
  }

  @Test func aSlowValidatorEndsWithItsTask() async throws {
    let begun = DispatchGate()
    let slow = Validator("slow", Album.self) { _, reads in
      begun.open()
      while true { try reads.checkCancellation() }
    }
    let shop = try Shop([slow])
    let store = shop.store
    let task = Task {
      try await store.write { tx in try tx.set(\Album.title, to: "T", for: 1) }
    }
    begun.cancelsWhenOpen(task)
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.find(Album.self, 1)?.title == "So What")
    try await store.write { tx in try tx.set(\Artist.name, to: "Goes on", for: 1) }
  }

  @Test func aQueryOfASlowValidatorEndsWithItsTask() async throws {
    let begun = DispatchGate()
    let slow = Validator("slow", Album.self) { _, reads in
      begun.open()
      _ = try reads.value(
        Int64.self,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      return .accept
    }
    let shop = try Shop([slow])
    let store = shop.store
    let task = Task {
      try await store.write { tx in try tx.set(\Album.title, to: "T", for: 1) }
    }
    begun.cancelsWhenOpen(task)
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.find(Album.self, 1)?.title == "So What")
  }

  @Test func unsupportedValidatorsAreRefusedWhenDeclared() throws {
    let directory = try TemporaryDirectory()
    func refusal(_ validator: Validator) -> StoreError.Code? {
      failure {
        try Store(
          at: directory.file("shop.store"), models: Artist.self, Album.self,
          validators: [validator])
      }?.code
    }
    #expect(refusal(Validator("nobody's") { _, _ in [] }) == .misuse)
    #expect(
      refusal(Validator("no field", \Album.title.computed) { _, _, _ in .accept }) == .unknownField)
    let second = Validator("no second field", \Album.title, \Album.title.computed) { _, _, _ in
      .accept
    }
    #expect(refusal(second) == .unknownField)
  }

  @Test func otherProgramsSeeWhichValidatorsTheyCannotRun() throws {
    let shop = try Shop(Self.logged(Recorder()))
    let path = shop.store.path
    #expect(
      try shop.store.declaredValidators() == [
        DeclaredValidator(name: "artist", models: ["Album"], isInForce: true),
        DeclaredValidator(name: "record", models: ["Album"], isInForce: true),
        DeclaredValidator(name: "title", models: ["Album"], isInForce: true),
        DeclaredValidator(name: "together", models: ["Album"], isInForce: true),
        DeclaredValidator(name: "whole", models: ["Album", "Artist"], isInForce: true),
      ])
    shop.store.close()
    let other = try Store(at: path)
    #expect(try other.declaredValidators().map(\.isInForce) == Array(repeating: false, count: 5))
  }
}

extension String {
  /// Not a stored field, although it looks like one.
  fileprivate var computed: String { self }
}
