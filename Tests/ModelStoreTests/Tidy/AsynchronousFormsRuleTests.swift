import Testing

/// Decision 42: each public call that can block has an asynchronous form.
@Suite(.tags(.unit)) struct AsynchronousFormsRuleTests {
  private static let types: Set = [
    "Store", "ChangeJournal", "Consumer", "ConsumerBatch", "LiveQuery", "LiveList", "LiveRecord",
    "LiveRecords", "RecordWindow", "FieldSubject", "ValueStream", "Gate", "ObservationToken",
    "ObservationBag", "EventRecorder",
  ]

  /// Calls that wait neither for the file nor for another thread, except briefly for a mutex.
  /// Before you add one, prove it with a test such as `observingWithoutOptionsWaitsForNoWriter()`.
  private static let unblocked = """
    ChangeJournal.growth(after:)
    Consumer.batches(of:)
    EventRecorder.init(_:)
    EventRecorder.record(_:)
    FieldSubject.makeAsyncIterator()
    Gate.end()
    Gate.observe(_:)
    LiveQuery.derivation()
    LiveQuery.key(at:)
    LiveQuery.keys(in:)
    ObservationBag.hold(_:)
    ObservationBag.init()
    ObservationBag.remove(_:)
    ObservationBag.remove(_:context:)
    ObservationBag.removeAll()
    ObservationToken.cancel()
    ObservationToken.pause()
    ObservationToken.resume()
    RecordWindow.cancel()
    Store.addMonitor(_:)
    Store.changes(of:)
    Store.changes(of:key:fields:)
    Store.changes(of:of:)
    Store.check(_:_:of:_:_:)
    Store.endObservations(of:in:)
    Store.observations(by:)
    Store.observe(_:_:)
    Store.observe(_:of:_:)
    Store.observe(_:of:fields:_:)
    Store.observers(of:)
    Store.recorder(of:key:)
    Store.recorder(of:of:)
    Store.subject(_:of:)
    ValueStream.bind(to:)
    ValueStream.bind(to:_:)
    ValueStream.filter(_:)
    ValueStream.map(_:)
    ValueStream.removeDuplicates()
    ValueStream.subscribe(_:)
    """

  @Test func eachCallThatCanBlockHasAnAsynchronousForm() throws {
    let project = try Project.checkout.get()
    let forms = AsynchronousForms(
      of: project.library + project.swift(under: "Sources/ModelStoreTesting"), types: Self.types)
    #expect(forms.missing == Self.unblocked.split(separator: "\n").map(String.init))
  }

  @Test func aCallWithoutAnAsynchronousFormIsFound() {
    let text = """
      public final class Store {
        public init(at path: String, models: [any Model.Type]) throws {}
        public convenience init(at path: String, models: [any Model.Type]) async throws {}
        public func fetch<A, B>(_ query: (A, B) -> Void, limit: [A: B] = [:]) throws -> [A] {}
        public func close() {}
        public static func open() async {}
        func own() {}
      }
      extension Other { public func wait() {} }
      extension Store {
        public func close() async { func inner() {} }
      }
      """
    let file = SourceText(path: "Sources/ModelStore/A.swift", text: text)
    #expect(
      AsynchronousForms(of: [file], types: ["Store"]).missing == ["Store.fetch(_:limit:)"])
  }
}
