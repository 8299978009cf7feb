import Logging
import ModelStore
import ModelStoreService
import ServiceLifecycle

// A service that writes notes and indexes them in the background. What it cannot index becomes a
// dead letter. It shuts down in order:
//   service FILE

struct Note: CodableModel {
  var id: Int64
  var text: String
  var key: Int64 { id }

  static let definition = ModelDefinition<Note>(
    "Note", key: \.id, fields: [.init("id", \.id), .init("text", \.text)])
}

struct Unindexable: Error {}

guard CommandLine.arguments.count == 2 else {
  print("usage: service FILE")
  throw StoreError(.misuse, "Name a new file.")
}

var configuration = StoreConfiguration()
configuration.changeJournal = .full
let store = try Store(
  at: CommandLine.arguments[1], models: Note.self, configuration: configuration)

// Logs, metrics and traces.
var logger = Logger(label: "notes")
logger.logLevel = .warning
try store.addMonitor(StoreLogger(logger))
try store.addMonitor(StoreMetrics(store: "notes"))
try store.addMonitor(StoreTracer(store: "notes"))

// Work in the background: each change at least once, in order for each note.
var options = StoreWorker.Options()
options.start = .start
options.concurrency = 1
options.attemptCount = 2
let worker = StoreWorker("search-index", of: store, models: ["Note"], options: options) { change in
  guard change["text"]?.new != .text("") else { throw Unindexable() }
  print("indexed note \(change.key.map(\.description).joined())")
}

/// Writes, waits until the worker has caught up, and ends. That shuts down the group.
struct Writing: Service {
  let store: Store

  func run() async throws {
    for (id, text) in [(1, "milk"), (2, ""), (3, "bread")] {
      try await store.write { tx in try tx.upsert(Note(id: Int64(id), text: text)) }
    }
    let consumer = try await store.consumer("search-index", startingAt: .start)
    while try await consumer.status().lag > 0 { try await Task.sleep(for: .milliseconds(10)) }
    for letter in try await store.deadLetters() {
      print("dead letter: \(letter.error) after \(letter.attemptCount) attempts")
    }
    print("ready: \(try await store.health().isWritable)")
  }
}

// The store comes first, so it closes last.
let group = ServiceGroup(
  configuration: .init(
    services: [
      .init(service: StoreService(store, deadline: .seconds(10))),
      .init(service: worker),
      .init(service: Writing(store: store), successTerminationBehavior: .gracefullyShutdownGroup),
    ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
try await group.run()
print("closed")
