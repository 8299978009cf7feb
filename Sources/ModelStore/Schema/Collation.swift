/// How text compares: <https://sqlite.org/datatype3.html#collating_sequences>.
public enum Collation: Hashable, Sendable, Codable {
  /// Byte by byte. SQLite's default.
  case binary
  /// As binary, with the 26 ASCII letters folded; other letters are not.
  case nocase
  /// As binary, with trailing spaces ignored.
  case rtrim
  /// A collation that the program registers on its connections.
  case custom(String)

  public var name: String {
    switch self {
    case .binary: "BINARY"
    case .nocase: "NOCASE"
    case .rtrim: "RTRIM"
    case .custom(let name): name
    }
  }

  public init(name: String) {
    switch name.uppercased() {
    case "BINARY": self = .binary
    case "NOCASE": self = .nocase
    case "RTRIM": self = .rtrim
    default: self = .custom(name)
    }
  }
}
