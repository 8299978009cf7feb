#if Postgres
  import Foundation
  import ModelStore
  import Synchronization

  @testable import ModelStorePostgres

  /// Stands between ledgers and a server, and cuts a connection after a number of bytes.
  final class CuttingProxy: Sendable {
    enum Direction: Sendable {
      case toServer, toClient
    }

    /// Where to cut the connection that sends next.
    struct Cut: Sendable {
      let direction: Direction
      let byteCount: Int
    }

    /// Its directory serves as the host of a connection string.
    let directory: String
    private let server: String
    private let listening: Int32
    private let wakePipe: WakePipe
    private let state = Mutex(State())

    private struct State {
      var cut: Cut?
      /// How often bytes came from a client.
      var sendCount = 0
      /// Bytes since ``CuttingProxy/plan(_:)``.
      var sent = 0
      var received = 0

      /// How many of `count` bytes pass, and whether the connection ends after them.
      mutating func pass(_ count: Int, _ direction: Direction) -> (count: Int, isCut: Bool) {
        if direction == .toServer { sendCount += 1 }
        let before = direction == .toServer ? sent : received
        if direction == .toServer { sent += count } else { received += count }
        guard let cut, cut.direction == direction, before + count > cut.byteCount else {
          return (count, false)
        }
        return (max(0, cut.byteCount - before), true)
      }
    }

    init(of server: PostgresServer) throws {
      directory = "/tmp/modelstore-proxy-\(UInt32.random(in: 0...(.max)))"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false)
      let name = "/.s.PGSQL.\(server.port)"
      self.server = server.directory + name
      wakePipe = try WakePipe()
      listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      guard Self.with(directory + name, { [listening] in bind(listening, $0, $1) }) == 0,
        listen(listening, 64) == 0
      else { throw PostgresServer.Failure("a proxy's socket: \(errno)") }
      let (target, stop) = (self.server, wakePipe)
      DispatchQueue(label: "proxy").async { [listening, weak self] in
        while SocketWait.wait(for: listening, Int32(POLLIN), until: nil, stop: stop.descriptor)
          == .ready
        {
          let client = accept(listening, nil, nil)
          let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
          let isConnected = Self.with(target) { connect(server, $0, $1) } == 0
          DispatchQueue(label: "proxied").async { [weak self] in
            if isConnected { Self.forward(client, server, stop) { self?.pass($0, $1) } }
            close(client)
            close(server)
          }
        }
      }
    }

    deinit {
      wakePipe.wake()
      close(listening)
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        print("\(directory): \(error)")
      }
    }

    /// Cuts from now on, or stops cutting.
    func plan(_ cut: Cut?) {
      state.withLock { $0 = State(cut: cut) }
    }

    /// Bytes since ``plan(_:)``, in each direction.
    var counts: (sent: Int, received: Int) { state.withLock { ($0.sent, $0.received) } }

    /// How often bytes came from a client. Two sends may arrive as one.
    var sendCount: Int { state.withLock { $0.sendCount } }

    private func pass(_ count: Int, _ direction: Direction) -> (count: Int, isCut: Bool) {
      state.withLock { $0.pass(count, direction) }
    }

    private static func forward(
      _ client: Int32, _ server: Int32, _ stop: WakePipe,
      _ pass: (Int, Direction) -> (count: Int, isCut: Bool)?
    ) {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var descriptors = [client, server, stop.descriptor].map {
          pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&descriptors, 3, -1) > 0, descriptors[2].revents == 0 else { return }
        for (place, direction) in [(0, Direction.toServer), (1, .toClient)]
        where descriptors[place].revents != 0 {
          let count = recv(descriptors[place].fd, &buffer, buffer.count, 0)
          guard count > 0, let passing = pass(count, direction) else { return }
          let target = place == 0 ? server : client
          var sent = 0
          while sent < passing.count {
            let bytes = send(
              target, Array(buffer[sent..<passing.count]), passing.count - sent,
              Int32(MSG_NOSIGNAL))
            guard bytes > 0 else { return }
            sent += bytes
          }
          if passing.isCut { return }
        }
      }
    }

    private static func with(
      _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
  }
#endif
