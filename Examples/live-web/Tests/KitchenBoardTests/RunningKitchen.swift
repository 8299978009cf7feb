import Foundation
import Logging
import ModelStore
import ModelStoreService
import ServiceLifecycle

@testable import KitchenBoard

/// A server of a new store on a free port, which ends with the test.
struct RunningKitchen: Sendable {
  let store: Store
  let feed: BoardFeed
  let port: Int
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  /// Runs `body` with a server, and shuts it down in order.
  static func with<Value>(
    _ body: (RunningKitchen) async throws -> Value
  ) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("kitchen-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let kitchen = try await RunningKitchen(folder.appendingPathComponent("kitchen.store").path)
    let result: Result<Value, any Error>
    do { result = .success(try await body(kitchen)) } catch { result = .failure(error) }
    try await kitchen.shutDown()
    try FileManager.default.removeItem(at: folder)
    return try result.get()
  }

  private init(_ path: String) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .error
    let store = try Store.kitchen(at: path)
    try await store.openKitchen()
    let feed = try BoardFeed(store)
    let (ports, found) = AsyncStream<Int>.makeStream()
    let server = KitchenServer(store, feed: feed).application(
      at: .hostname("127.0.0.1", port: 0), logger: logger
    ) { port in
      found.yield(port)
    }
    let group = ServiceGroup(
      configuration: .init(services: [StoreService(store), server, feed], logger: logger))
    running = Task {
      defer { found.finish() }
      try await group.run()
    }
    self.group = group
    self.store = store
    self.feed = feed
    var iterator = ports.makeAsyncIterator()
    guard let port = await iterator.next() else {
      try await running.value
      throw PageConnection.Failure(description: "The server ended.")
    }
    self.port = port
  }

  /// Shuts down as on SIGTERM, and waits for the end.
  func shutDown() async throws {
    await group.triggerGracefulShutdown()
    try await running.value
  }

  func events(after id: String? = nil) async throws -> PageConnection {
    try await blocking { [port] in try PageConnection.events(port: port, after: id) }
  }

  func next(of page: PageConnection) async throws -> ReceivedEvent? {
    try await blocking { try page.next() }
  }

  func request(
    _ method: String, _ path: String, _ content: String? = nil, type: String = "application/json"
  ) async throws -> (status: Int, head: String, body: String) {
    try await blocking { [port] in
      try PageConnection.request(port: port, method, path, content, type: type)
    }
  }
}
