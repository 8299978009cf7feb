/// Who changed a value: the caller's statement, or something in the file that followed from it.
public enum Origin: Hashable, Sendable {
  /// A statement of the transaction itself.
  case user
  /// The binding of that name.
  case binding(String)
  /// A foreign key's action: `ON DELETE CASCADE`, `ON UPDATE SET NULL` …
  case cascade
  /// A trigger of that name that is no binding's.
  case trigger(String)
  /// A connection that is not this store's, such as another process.
  case foreign
}

extension Origin {
  /// Whether the change answers another one, by something in the file that is no reference.
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
