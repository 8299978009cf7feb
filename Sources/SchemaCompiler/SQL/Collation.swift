/// How text compares: <https://sqlite.org/datatype3.html#collating_sequences>.
///
/// Written in the catalog as its name.
public enum Collation: Hashable, Sendable {
  /// Byte by byte. SQLite's default.
  case binary
  /// As binary, except that the 26 ASCII letters are equal in upper and lower case.
  case nocase
  /// As binary, with trailing spaces ignored.
  case rtrim
  /// A collation that the program registers on its connections.
  case custom(String)

  /// The name to put after COLLATE.
  public var name: String {
    switch self {
    case .binary: "BINARY"
    case .nocase: "NOCASE"
    case .rtrim: "RTRIM"
    case .custom(let name): name
    }
  }

  /// Creates the collation called `name`, compared as SQLite compares names.
  package init(name: String) {
    switch name.asciiFolded {
    case "binary": self = .binary
    case "nocase": self = .nocase
    case "rtrim": self = .rtrim
    default: self = .custom(name)
    }
  }
}

extension Collation: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(name: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}
