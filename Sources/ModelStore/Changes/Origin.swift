/// What changed a value: the caller's statement, or something in the file that reacted to it.
public enum Origin: Hashable, Sendable {
  /// A statement of the transaction itself.
  case user
  /// The binding of that name.
  case binding(String)
  /// A foreign key's action: `ON DELETE CASCADE`, `ON UPDATE SET NULL` …
  case cascade
  /// The trigger of that name, which does not belong to a binding.
  case trigger(String)
  /// Another connection than this store's, such as another process.
  case foreign
}

extension Origin {
  /// Whether a binding or trigger in the file made the change in response to another one.
  var isTriggered: Bool {
    switch self {
    case .binding, .trigger: true
    case .user, .cascade, .foreign: false
    }
  }
}

extension Origin: CustomStringConvertible {
  /// `user`, `binding:NAME`, `cascade`, `trigger:NAME` or `foreign`: the form in logs and at the
  /// command line.
  public var description: String {
    switch self {
    case .user: "user"
    case .binding(let name): "binding:\(name)"
    case .cascade: "cascade"
    case .trigger(let name): "trigger:\(name)"
    case .foreign: "foreign"
    }
  }
}
