import Foundation
import ModelStore

@testable import KitchenBoard

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A page without a browser: one connection to the server. Its calls block, so tests make them on
/// threads of their own, and no receive waits longer than a limit.
final class PageConnection: @unchecked Sendable {
  // Guard: a test uses a connection on one thread at a time.
  private let socket: Int32
  private var bytes: [UInt8] = []
  /// Whether the head of the response was read, and whether its chunks have ended.
  private var hasHead = false
  private(set) var hasEnded = false
  private var body: [UInt8] = []

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init(port: Int) throws {
    #if canImport(Glibc)
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard socket >= 0 else { throw Failure(description: "socket: \(errno)") }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure(description: "connect: \(errno)") }
  }

  deinit { close(socket) }

  /// Asks for the events, after the one with `id`.
  static func events(port: Int, after id: String? = nil) throws -> PageConnection {
    let connection = try PageConnection(port: port)
    let header = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    try connection.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n")
    return connection
  }

  /// Sends a request, and returns its status, its head and its body.
  static func request(
    port: Int, _ method: String, _ path: String, _ content: String? = nil,
    type: String = "application/json"
  ) throws -> (status: Int, head: String, body: String) {
    let connection = try PageConnection(port: port)
    let length = content.map {
      "Content-Type: \(type)\r\nContent-Length: \($0.utf8.count)\r\n"
    }
    try connection.send(
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(length ?? "")\r\n"
        + (content ?? ""))
    while try connection.receive() {}
    let text = String(decoding: connection.bytes, as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    return (
      Int(text.dropFirst(9).prefix(3)) ?? 0, parts[0], parts.dropFirst().joined()
    )
  }

  private func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(socket, bytes, bytes.count) == bytes.count else {
      throw Failure(description: "write: \(errno)")
    }
  }

  /// Receives some bytes. Returns false at the end.
  private func receive() throws -> Bool {
    var part = [UInt8](repeating: 0, count: 65536)
    let count = read(socket, &part, part.count)
    guard count >= 0 else { throw Failure(description: "Nothing was received: \(errno)") }
    bytes += part.prefix(count)
    return count > 0
  }

  /// Returns the next event; nil when the server ended the stream.
  func next() throws -> ReceivedEvent? {
    while true {
      while let text = takeEvent() {
        if let event = try ReceivedEvent(text) { return event }
      }
      if hasEnded { return nil }
      if try !takeChunk(), try !receive() { return nil }
    }
  }

  /// Moves one chunk of the response into `body`. Returns false if none is complete.
  private func takeChunk() throws -> Bool {
    if !hasHead {
      guard let end = bytes.range(of: "\r\n\r\n") else { return false }
      bytes.removeSubrange(..<end.upperBound)
      hasHead = true
    }
    guard let line = bytes.range(of: "\r\n"),
      let count = Int(String(decoding: bytes[..<line.lowerBound], as: UTF8.self), radix: 16),
      bytes.count >= line.upperBound + count + 2
    else { return false }
    body += bytes[line.upperBound..<(line.upperBound + count)]
    bytes.removeSubrange(..<(line.upperBound + count + 2))
    hasEnded = count == 0
    return true
  }

  private func takeEvent() -> String? {
    guard let end = body.range(of: "\n\n") else { return nil }
    defer { body.removeSubrange(..<end.upperBound) }
    return String(decoding: body[..<end.lowerBound], as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate func range(of text: String) -> Range<Int>? {
    firstRange(of: Array(text.utf8))
  }
}

/// Runs blocking code on a thread of its own.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws
  -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
