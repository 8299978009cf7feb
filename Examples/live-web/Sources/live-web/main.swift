import Foundation
import KitchenBoard
import Logging
import ModelStore
import ModelStoreService
import ServiceLifecycle

// A kitchen's order board that every open page and every program keeps in sync:
//   live-web FILE [PORT [HOST]]

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first, arguments.count <= 3,
  let port = Int(arguments.dropFirst().first ?? "8080")
else {
  print("usage: live-web FILE [PORT [HOST]]")
  throw StoreError(.misuse, "Name the file, and a port if it is not 8080.")
}
let host = arguments.dropFirst(2).first ?? "127.0.0.1"

var logger = Logger(label: "live-web")
logger.logLevel = .warning

let store = try Store.kitchen(at: path)
try store.addMonitor(StoreLogger(logger))
try await store.openKitchen()

let feed = try BoardFeed(store)
let server = KitchenServer(store, feed: feed).application(
  at: .hostname(host, port: port), logger: logger
) { port in
  say("http://\(host):\(port)")
}

// Services end in reverse order: first the pages' streams, then the server, then the store.
var services = ServiceGroupConfiguration(
  services: [StoreService(store, deadline: .seconds(10)), server, feed],
  gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
// A page that reads nothing more is left after this time. The container and the unit wait longer.
services.maximumGracefulShutdownDuration = .seconds(15)
try await ServiceGroup(configuration: services).run()
say("closed")

/// Prints a line at once, also into a pipe.
@Sendable func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
