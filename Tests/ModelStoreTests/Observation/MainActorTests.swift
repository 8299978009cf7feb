import Dispatch
import Observation
import Synchronization
import Testing

@testable import ModelStore

/// From a store to objects of the main actor, and back.
@MainActor @Suite(.tags(.unit), .timeLimit(.minutes(30))) struct MainActorTests {
  /// A view as toolkits have them: a plain class of the main actor.
  final class Label {
    var text = "" {
      didSet {
        dispatchPrecondition(condition: .onQueue(.main))
        shown.append(text)
      }
    }
    var detail: String?
    private(set) var shown: [String] = []
  }

  @Observable final class Form {
    var title = ""
    @ObservationIgnored private(set) var assigned: [String] = []

    func type(_ text: String) { title = text }
  }

  @Test("a field of a record is assigned to a property, on the main actor, in order")
  func toALabel() async throws {
    let shop = try MusicShop()
    let label = Label()
    let binding = try shop.store.subject(\Album.title, of: 1).stream.bind(to: label, \.text)
    let artist = try shop.store.subject(\Album.artistName, of: 1).stream.bind(to: label, \.detail)
    for number in 1...20 { try shop.setTitle("title \(number)") }
    try shop.setArtist("Nina")
    await settle { label.text == "title 20" && label.detail == "Nina" }
    // Values between may be left out, and none comes after a later one.
    let numbers = label.shown.map { $0.split(separator: " ").last.flatMap { Int($0) } ?? 0 }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers).count == numbers.count)
    binding.cancel()
    artist.cancel()
    #expect(shop.registry == [])
  }

  @Test("transforms run before delivery; a value of a cancelled binding is not assigned")
  func cancelling() async throws {
    let shop = try MusicShop()
    let (label, other) = (Label(), Label())
    let subject = try shop.store.subject(\Album.title, of: 1)
    let binding = try subject.stream.map { $0.uppercased() }.bind(to: label, \.text)
    let witness = try subject.stream.bind(to: other, \.text)
    try shop.setTitle("a")
    await settle { label.text == "A" && other.text == "a" }
    try shop.setTitle("b")
    // It waits for the main actor, which cancels first.
    blockUntilDelivered(shop.store)
    binding.cancel()
    await settle { other.text == "b" }
    #expect(label.shown == ["A"])
    withExtendedLifetime(witness) {}
  }

  /// Waits on the main actor, so that nothing else runs there meanwhile.
  private func blockUntilDelivered(_ store: Store) { store.waitForDelivery() }

  @Test("a binding does not keep its object alive")
  func theObjectGoes() async throws {
    let shop = try MusicShop()
    var label: Label? = Label()
    weak let gone = label
    let other = Label()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let bindings = try [label, other].compactMap { label in
      try label.map { try subject.stream.bind(to: $0, \.text) }
    }
    label = nil
    await settle { gone == nil }
    try shop.setTitle("a")
    await settle { other.text == "a" }
    #expect(other.shown.filter { $0 == "a" } == ["a"])
    withExtendedLifetime(bindings) {}
  }

  @Test("every event is delivered to the main actor, in order")
  func delivery() async throws {
    let shop = try MusicShop()
    let label = Label()
    let subscription = try await shop.store.changes(
      of: .field(\Album.title, of: 1), coalescing: .every
    )
    .deliver(to: MainActor.shared) { [weak label] change in label?.text = change.new ?? "" }
    let titles = (1...20).map { "title \($0)" }
    for title in titles { try shop.setTitle(title) }
    await settle { label.text == titles[19] }
    #expect(label.shown == titles)
    try shop.setTitle("more")
    blockUntilDelivered(shop.store)
    subscription.cancel()
    for _ in 0..<10 { await Task.yield() }
    #expect(label.shown == titles)
  }

  @Test("a form and a field follow each other without echoes")
  func bothWays() async throws {
    let shop = try MusicShop()
    let form = Form()
    let events = Recorder<String>()
    let watching = try shop.store.observe(\Album.title, of: 1) { events.add($0.new ?? "none") }
    let binding = try await shop.store.subject(\Album.title, of: 1).bindBothWays(to: form, \.title)
    await settle { form.title == "one" }
    form.title = "typed"
    try await settle { try shop.store.find(Album.self, 1)?.title == "typed" }
    try shop.setTitle("stored")
    await settle { form.title == "stored" }
    for text in ["s", "st", "sto"] { form.title = text }
    try await settle { try shop.store.find(Album.self, 1)?.title == "sto" }
    await settle { events.events.count == 3 }
    #expect(events.events == ["typed", "stored", "sto"])
    // A refused value stays in the form, is reported, and can be corrected.
    form.title = ""
    await settle { shop.failures.events == ["rejected"] }
    form.title = "right"
    try await settle { try shop.store.find(Album.self, 1)?.title == "right" }
    #expect(form.title == "right")
    binding.cancel()
    form.title = "alone"
    try shop.setTitle("apart")
    await shop.store.waitForDelivery()
    for _ in 0..<10 { await Task.yield() }
    #expect(form.title == "alone")
    #expect(try await shop.store.find(Album.self, 1)?.title == "apart")
    watching.cancel()
    #expect(shop.registry == [])
  }

  /// A form that remembers every value of its title, and a label that gets the field's values after
  /// the form's binding.
  @MainActor private struct TypedForm {
    /// Its title is observable by hand, so that each assignment is seen.
    @MainActor final class Page: Observable {
      private let registrar = ObservationRegistrar()
      private(set) var shown: [String] = []

      var title: String {
        get {
          registrar.access(self, keyPath: \.title)
          return shown.last ?? ""
        }
        set { registrar.withMutation(of: self, keyPath: \.title) { shown.append(newValue) } }
      }
    }

    let shop: MusicShop
    let page = Page()
    let label = Label()
    /// Opened by the test: delivery of the values `held` waits for it, once for each.
    let delivery = DispatchGate()
    private let subscriptions: [ObservationToken]

    /// A form that shows the stored title.
    init(holdingDeliveryOf held: Set<String>) async throws {
      shop = try MusicShop()
      let title = try shop.store.subject(\Album.title, of: 1)
      subscriptions = [
        try title.stream.subscribe { [delivery] value in
          if held.contains(value) { delivery.wait() }
        },
        try await title.bindBothWays(to: page, \.title),
        try title.stream.bind(to: label, \.text),
      ]
      await settle { [page] in page.title == "one" }
    }

    var storedTitle: String? { get throws { try shop.store.find(Album.self, 1)?.title } }

    /// Types a title, and waits until it is stored.
    func store(_ title: String) async throws {
      page.title = title
      try await settle { try storedTitle == title }
    }

    /// Has the held event of a title delivered, and waits until the label shows it.
    func deliver(_ title: String) async {
      delivery.open()
      await settle { label.text == title }
    }

    /// Gives what is due on the main actor its turns. What the tests expect does not depend on how
    /// many: more of them let a wrong assignment show.
    func rest() async {
      for _ in 0..<100 { await Task.yield() }
    }

    /// Has writes wait until the result is opened.
    func holdWriter() async -> DispatchGate {
      let (held, release) = (Recorder<Void>(), DispatchGate())
      let store = shop.store
      DispatchQueue.global().async {
        do {
          try store.write { _ in
            held.add(())
            release.wait()
          }
        } catch {
          Issue.record(error)
        }
      }
      while held.events.isEmpty { await Task.yield() }
      return release
    }
  }

  @Test("while a user types, earlier values do not come back")
  func theOwnValueDoesNotReplaceANewerOne() async throws {
    let form = try await TypedForm(holdingDeliveryOf: ["a", "ab"])
    try await form.store("a")
    let writer = await form.holdWriter()
    form.page.title = "ab"
    await form.rest()
    // The event of the first value comes while the second one is on its way,
    await form.deliver("a")
    // and the second one's only after it was written.
    writer.open()
    try await settle { try form.storedTitle == "ab" }
    await form.rest()
    await form.deliver("ab")
    await form.rest()
    #expect(form.page.shown == ["one", "a", "ab"])
    #expect(form.shop.failures.events == [])
  }

  @Test("a refused value is not replaced by an earlier one")
  func theOwnValueDoesNotReplaceARefusedOne() async throws {
    let form = try await TypedForm(holdingDeliveryOf: ["a"])
    try await form.store("a")
    form.page.title = ""
    await form.rest()
    form.delivery.open()
    await settle { form.label.text == "a" && form.shop.failures.events == ["rejected"] }
    await form.rest()
    #expect(form.page.shown == ["one", "a", ""])
    #expect(form.shop.failures.events == ["rejected"])
  }

  @Test("a foreign write during a pending value is shown when that value is refused")
  func aRefusedValueGivesWayToWhatOthersWrote() async throws {
    let form = try await TypedForm(holdingDeliveryOf: ["stored"])
    try form.shop.setTitle("stored")
    let writer = await form.holdWriter()
    form.page.title = ""
    await form.rest()
    await form.deliver("stored")
    writer.open()
    await settle { form.page.title == "stored" }
    await form.rest()
    #expect(form.page.shown == ["one", "", "stored"])
    #expect(form.shop.failures.events == ["rejected"])
    #expect(try form.storedTitle == "stored")
  }

  @Test("foreign writes before an accepted value are not shown, later ones are")
  func theLastOfBothCounts() async throws {
    let form = try await TypedForm(holdingDeliveryOf: ["before", "typed"])
    try form.shop.setTitle("before")
    let writer = await form.holdWriter()
    form.page.title = "typed"
    await form.rest()
    await form.deliver("before")
    writer.open()
    try await settle { try form.storedTitle == "typed" }
    await form.rest()
    try form.shop.setTitle("after")
    form.delivery.open()
    await settle { form.page.title == "after" && form.label.text == "after" }
    #expect(form.page.shown == ["one", "typed", "after"])
    #expect(form.shop.failures.events == [])
  }

  @Test("an own value that another writer reverts at once is reverted in the form too")
  func anUndoneValueIsUndone() async throws {
    let form = try await TypedForm(holdingDeliveryOf: ["a"])
    try await form.store("a")
    try form.shop.setTitle("one")
    form.delivery.open()
    await settle { form.label.text == "one" && form.page.title == "one" }
    #expect(form.page.shown == ["one", "a", "one"])
    #expect(form.shop.failures.events == [])
  }

  @Test("values written by a paused form do not replace a value refused since")
  func aPausedFormKeepsItsRefusedValue() async throws {
    let shop = try MusicShop()
    let form = Form()
    let binding = try await shop.store.subject(\Album.title, of: 1).bindBothWays(to: form, \.title)
    await settle { form.title == "one" }
    binding.pause()
    form.title = "a"
    try await settle { try shop.store.find(Album.self, 1)?.title == "a" }
    form.title = ""
    await settle { shop.failures.events == ["rejected"] }
    binding.resume()
    await shop.store.waitForDelivery()
    for _ in 0..<100 { await Task.yield() }
    #expect(form.title == "")
    // What others write is shown.
    try shop.setTitle("theirs")
    await settle { form.title == "theirs" }
    #expect(shop.failures.events == ["rejected"])
  }

  @Observable final class ShortForm {
    var title = "" {
      didSet { if title.count > 4 { title = String(title.prefix(4)) } }
    }
  }

  @Test("a value that the form's setter changes is written to the field")
  func aSetterThatClips() async throws {
    let shop = try MusicShop()
    let form = ShortForm()
    let binding = try await shop.store.subject(\Album.title, of: 1).bindBothWays(to: form, \.title)
    await settle { form.title == "one" }
    try shop.setTitle("a long title")
    try await settle { try shop.store.find(Album.self, 1)?.title == "a lo" }
    #expect(form.title == "a lo")
    #expect(shop.failures.events == [])
    binding.cancel()
  }

  @Observable final class LoudForm {
    var title = "" {
      didSet { if title != title.uppercased() { title = title.uppercased() } }
    }
  }

  @Observable final class QuietForm {
    var title = "" {
      didSet { if title != title.lowercased() { title = title.lowercased() } }
    }
  }

  @Test("two forms whose setters answer each other settle")
  func settersThatAnswer() async throws {
    let shop = try MusicShop()
    let (loud, quiet) = (LoudForm(), QuietForm())
    let titles = Recorder<String>()
    let watching = try shop.store.observe(\Album.title, of: 1) { titles.add($0.new ?? "none") }
    let subject = try shop.store.subject(\Album.title, of: 1)
    let bindings = await [
      try subject.bindBothWays(to: loud, \.title), try subject.bindBothWays(to: quiet, \.title),
    ]
    await settle { loud.title == "ONE" && quiet.title == "one" }
    // Turns enough for many more rounds.
    for _ in 0..<1000 {
      await shop.store.waitForDelivery()
      await Task.yield()
    }
    #expect(titles.events.count <= 2, "\(titles.events)")
    try shop.setTitle("Two")
    await settle { loud.title == "TWO" && quiet.title == "two" }
    #expect(shop.failures.events == [])
    watching.cancel()
    withExtendedLifetime(bindings) {}
  }

  @Observable final class Entry {
    var value = 0.0
  }

  @Test("a number that cannot be stored is refused once")
  func notANumber() async throws {
    let directory = try TemporaryDirectory()
    let failures = Recorder<StoreError.Code>()
    let store = try await Store(at: directory.file("a.store"), models: Weight.self) {
      failures.add($0.code)
    }
    try await store.write { tx in try tx.insert(Weight(id: 1, value: 1.5)) }
    let entry = Entry()
    let binding = try await store.subject(\Weight.value, of: 1).bindBothWays(to: entry, \.value)
    await settle { entry.value == 1.5 }
    entry.value = .nan
    await settle { !failures.events.isEmpty }
    for _ in 0..<100 { await Task.yield() }
    #expect(failures.events.count == 1)
    entry.value = 2.5
    try await settle { try store.find(Weight.self, 1)?.value == 2.5 }
    #expect(failures.events.count == 1)
    binding.cancel()
  }

  @Test("a released form and a missing record do not end other bindings")
  func neitherEndIsThere() async throws {
    let shop = try MusicShop()
    var form: Form? = Form()
    weak let gone = form
    let (kept, missing) = (Form(), Form())
    let subject = try shop.store.subject(\Album.title, of: 1)
    let bindings = try [form, kept].compactMap { form in
      try form.map { try subject.bindBothWays(to: $0, \.title) }
    }
    let other = try await shop.store.subject(\Album.title, of: 99).bindBothWays(
      to: missing, \.title)
    form = nil
    await settle { gone == nil }
    missing.title = "nowhere"
    try shop.setTitle("a")
    await settle { kept.title == "a" }
    #expect(shop.failures.events == [])
    withExtendedLifetime((bindings, other)) {}
  }
}

private struct Weight: Model {
  var id: Int64
  var value: Double

  static let definition = ModelDefinition<Weight>(
    "Weight", key: \.id, fields: [.init("id", \.id), .init("value", \.value)])

  var key: Int64 { id }

  init(id: Int64, value: Double) {
    self.id = id
    self.value = value
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try value.encode(to: &arguments, at: 1)
  }
}

@MainActor private func settle(_ condition: () throws -> Bool) async rethrows {
  while try !condition() { await Task.yield() }
}
