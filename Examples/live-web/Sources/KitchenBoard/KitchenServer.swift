import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import ModelStore
import ServiceLifecycle

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The web server of the kitchen: a page, its events, and the writes of its forms.
package struct KitchenServer: Sendable {
  private let store: Store
  private let feed: BoardFeed

  package init(_ store: Store, feed: BoardFeed) {
    self.store = store
    self.feed = feed
  }

  /// Returns the server as a service.
  ///
  /// - Parameter onRunning: Called with the port once the server accepts connections.
  package func application(
    at address: BindAddress, logger: Logger,
    onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) -> some ApplicationProtocol {
    var configuration = ApplicationConfiguration(address: address, serverName: "live-web")
    configuration.backlog = 1024
    configuration.availableConnectionsDelegate = MaximumAvailableConnections(2000)
    return Application(
      router: router(), configuration: configuration,
      onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
      logger: logger)
  }

  private func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: PageHeaders())
    for (path, type, bytes) in Self.pageFiles {
      router.get(RouterPath(path)) { _, _ in
        Response(
          status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
          body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
      }
    }
    router.get("events") { request, _ in events(for: request) }
    router.post("tickets") { request, context in
      try await answering(request) {
        try await add(try await request.decode(as: NewTicket.self, context: context))
      }
    }
    router.patch("tickets/:id") { request, context in
      try await answering(request) {
        let id = try context.parameters.require("id", as: Int64.self)
        return try await change(
          id, to: try await request.decode(as: TicketChange.self, context: context))
      }
    }
    router.delete("tickets/:id") { request, context in
      try await answering(request) {
        try await serve(try context.parameters.require("id", as: Int64.self))
      }
    }
    router.post("undo") { request, _ in
      try await answering(request) {
        Answer(.ok, ["undone": try await store.undo(by: Self.author) != nil])
      }
    }
    router.get("health") { _, _ in
      let health = try await store.health()
      return try Answer(
        health.isWritable ? .ok : .serviceUnavailable, ["isWritable": health.isWritable]
      ).response()
    }
    return router
  }

  private static let pageFiles: [(path: String, type: String, bytes: [UInt8])] = [
    ("/", "text/html; charset=utf-8", PackageResources.index_html),
    ("/board.css", "text/css; charset=utf-8", PackageResources.board_css),
    ("/board.js", "text/javascript; charset=utf-8", PackageResources.board_js),
    ("/icon.svg", "image/svg+xml", PackageResources.icon_svg),
  ]

  /// Whom the journal names for the writes of the page.
  private static let author = "page"

  // Events

  /// Follows the board. A browser that connects again sends the id of its last event, which is a
  /// position in the change journal.
  private func events(for request: Request) -> Response {
    let id =
      request.headers[.lastEventID] ?? request.uri.queryParameters["after"].map(String.init)
    let position = id.flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : JournalPosition(rawValue: $0) }
    return Response(
      status: .ok,
      headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(staticString: "retry: 500\n\n"))
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          try await feed.follow(after: position) { try await writer.write($0) }
        }
        try await writer.finish(nil)
      })
  }

  // Writes

  /// The fields of the form; nil for one that is empty.
  struct NewTicket: Decodable {
    var dish: String?
    var tableNumber: Int?
    var portions: Int?
    var isUrgent: Bool?
  }

  /// The fields of a ticket to change.
  struct TicketChange: Decodable {
    var stage: Ticket.Stage?
    var isUrgent: Bool?
  }

  private func add(_ new: NewTicket) async throws -> Answer {
    let ticket = Ticket(
      dish: new.dish ?? "", tableNumber: new.tableNumber ?? 0, portions: new.portions ?? 0,
      isUrgent: new.isUrgent ?? false)
    return try await store.write { tx in
      tx.sign(author: Self.author)
      return Answer(.created, ["id": try tx.insert(generatingKey: ticket).id])
    }
  }

  private func change(_ id: Int64, to change: TicketChange) async throws -> Answer {
    try await store.write { tx in
      tx.sign(author: Self.author)
      if let stage = change.stage { try tx.set(\Ticket.stage, to: stage, for: id) }
      if let isUrgent = change.isUrgent { try tx.set(\Ticket.isUrgent, to: isUrgent, for: id) }
      return Answer(.ok, ["id": id])
    }
  }

  private func serve(_ id: Int64) async throws -> Answer {
    try await store.write { tx in
      tx.sign(author: Self.author)
      try tx.delete(Ticket.self, id)
      return Answer(.ok, ["id": id])
    }
  }

  /// Answers a request that writes; a refused write with the violations by field.
  private func answering(
    _ request: Request, _ body: () async throws -> Answer
  ) async throws -> Response {
    // A page of another site cannot send this type without asking first, and is refused then.
    guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
      throw HTTPError(.unsupportedMediaType, message: "Send application/json.")
    }
    do {
      return try await body().response()
    } catch let error as StoreError {
      return try Answer(error).response()
    }
  }
}

/// A status and what to send with it as JSON.
struct Answer: Sendable {
  private let status: HTTPResponse.Status
  private let content: any Encodable & Sendable

  init(_ status: HTTPResponse.Status, _ content: some Encodable & Sendable) {
    self.status = status
    self.content = content
  }

  /// What a form shows for a write that was not done.
  struct Refusal: Encodable {
    let message: String
    /// The messages by the field's name; those that concern no field under the empty name.
    let fields: [String: [String]]
  }

  init(_ error: StoreError) {
    var fields: [String: [String]] = [:]
    for violation in error.violations {
      for field in violation.fields.isEmpty ? [""] : violation.fields {
        fields[field, default: []].append(violation.message)
      }
    }
    let status: HTTPResponse.Status =
      switch error.code {
      case .recordNotFound: .notFound
      case .conflict: .conflict
      case .rejected: .unprocessableContent
      case .busy, .shuttingDown, .outOfSpace: .serviceUnavailable
      default: .internalServerError
      }
    self.init(status, Refusal(message: error.message, fields: fields))
  }

  func response() throws -> Response {
    Response(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(content))))
  }
}

/// Lets the page load its own files and nothing else.
private struct PageHeaders<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
      + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }
}

extension HTTPField.Name {
  // The text is a valid name.
  // swift-format-ignore: NeverForceUnwrap
  static let lastEventID = Self("Last-Event-ID")!
}
