#if Postgres
  internal import CLibPQ
  internal import ModelStore

  /// A parsed connection string of PostgreSQL. Its texts never contain a password.
  struct ConnectionString: Sendable {
    /// The options of one attempt to connect, as libpq takes them.
    struct Attempt: Sendable {
      let options: [Option]
      /// The host and port, for messages.
      let place: String
    }

    struct Option: Sendable {
      let keyword: String
      let value: String
    }

    /// In the order in which they are tried.
    let attempts: [Attempt]
    /// Whether a server that only reads is passed over.
    let requiresWriting: Bool
    private let secrets: [String]

    /// - Parameter text: In either form of
    ///   <https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING>.
    /// - Throws: ``LedgerError/failed(_:)`` if it is malformed.
    init(_ text: String) throws {
      var options = try Self.parse(text)
      secrets = options.filter { $0.keyword.hasSuffix("password") }.map(\.value)
        .filter { !$0.isEmpty }
      let target = options.first { $0.keyword == "target_session_attrs" }?.value
      requiresWriting = target == nil || target == "read-write"
      if requiresWriting { options.removeAll { $0.keyword == "target_session_attrs" } }
      Self.addDefaults(to: &options)
      for (keyword, value) in Self.ownOptions
      where !options.contains(where: { $0.keyword == keyword }) {
        options.append(Option(keyword: keyword, value: value))
      }
      attempts = try Self.attempts(options)
    }

    /// All options but passwords. Two strings with the same identity connect as the same user to
    /// the same database.
    var identity: String {
      attempts.map { attempt in
        attempt.options.filter { !$0.keyword.hasSuffix("password") }
          .map { "\($0.keyword)=\($0.value)" }.sorted().joined(separator: " ")
      }.joined(separator: ", ")
    }

    /// The text without passwords.
    func redacted(_ text: String) -> String {
      secrets.reduce(text) { text, secret in text.replacing(secret, with: "***") }
    }

    /// A peer that is gone without a word is noticed within seconds.
    private static let ownOptions = [
      ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "10000"), ("application_name", "modelstore"),
      ("client_encoding", "UTF8"),
    ]

    private static func parse(_ text: String) throws -> [Option] {
      var message: UnsafeMutablePointer<CChar>?
      defer { PQfreemem(message) }
      // The message may quote a part of the text, which may be a part of a password.
      guard let list = PQconninfoParse(text, &message) else {
        throw LedgerError.failed(
          "The connection string is malformed. Use postgresql://user@host/database or "
            + "host=… dbname=… user=….")
      }
      defer { PQconninfoFree(list) }
      return options(list)
    }

    private static func options(_ list: UnsafeMutablePointer<PQconninfoOption>) -> [Option] {
      var options: [Option] = []
      var place = list
      while let keyword = place.pointee.keyword {
        if let value = place.pointee.val {
          options.append(Option(keyword: String(cString: keyword), value: String(cString: value)))
        }
        place += 1
      }
      return options
    }

    /// The environment and a service can name several hosts, too, which are tried one by one.
    private static func addDefaults(to options: inout [Option]) {
      let isSet = Set(options.map(\.keyword))
      let defaults = isSet.contains("service") ? serviceOptions(options) : environmentOptions()
      options += defaults.filter { option in
        // The client library's own port says nothing in a message.
        ["host", "hostaddr", "port"].contains(option.keyword) && option.value != "5432"
          && !option.value.isEmpty && !isSet.contains(option.keyword)
      }
    }

    private static func environmentOptions() -> [Option] {
      guard let list = PQconndefaults() else { return [] }
      defer { PQconninfoFree(list) }
      return Self.options(list)
    }

    /// The client library reads the file of services only when it begins to connect. It goes no
    /// further, because it refuses a value of the last option. If the service is missing, it says
    /// so when the first attempt is made.
    private static func serviceOptions(_ options: [Option]) -> [Option] {
      let refused =
        options.filter { $0.keyword != "channel_binding" }
        + [Option(keyword: "channel_binding", value: "-")]
      guard let handle = PostgresConnection.start(Attempt(options: refused, place: "")) else {
        return []
      }
      defer { PQfinish(handle) }
      guard let list = PQconninfo(handle) else { return [] }
      defer { PQconninfoFree(list) }
      return Self.options(list)
    }

    private static func attempts(_ options: [Option]) throws -> [Attempt] {
      func list(_ keyword: String) -> [String] {
        options.first { $0.keyword == keyword }
          .map { $0.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
          ?? []
      }
      let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
      let count = max(hosts.count, addresses.count, 1)
      guard [hosts, addresses].allSatisfy({ $0.isEmpty || $0.count == count }),
        ports.count <= 1 || ports.count == count
      else {
        throw LedgerError.failed("The connection string has lists of hosts and ports that differ.")
      }
      let rest = options.filter { !["host", "hostaddr", "port"].contains($0.keyword) }
      return (0..<count).map { place in
        let host = hosts.isEmpty ? nil : hosts[place]
        let address = addresses.isEmpty ? nil : addresses[place]
        let port = ports.isEmpty ? nil : ports[ports.count == 1 ? 0 : place]
        let own = [("host", host), ("hostaddr", address), ("port", port)].compactMap { option in
          option.1.map { Option(keyword: option.0, value: $0) }
        }
        let name = [host, address].compactMap { $0 }.first { !$0.isEmpty } ?? "this machine"
        return Attempt(
          options: rest + own, place: port.map { $0.isEmpty ? name : "\(name):\($0)" } ?? name)
      }
    }
  }

  /// For people, and for `dump`: an option may be a password.
  extension ConnectionString: CustomStringConvertible, CustomReflectable {
    var description: String { attempts.map(\.place).joined(separator: ", ") }
    var customMirror: Mirror { Mirror(self, children: ["places": description]) }
  }

  extension ConnectionString.Attempt: CustomStringConvertible, CustomReflectable {
    var description: String { place }
    var customMirror: Mirror { Mirror(self, children: ["place": place]) }
  }
#endif
