/// Encoded with one member that names the storage class, `{"integer":1}`, `{"text":"a"}`,
/// `{"blob":[1,2]}`, or as null. So an integer is not decoded as a real, nor a blob as text. An
/// infinite real is `{"real":"Infinity"}` or `{"real":"-Infinity"}`.
extension SQLValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case integer, real, text, blob
  }

  /// Reads the form above.
  public init(from decoder: any Decoder) throws {
    if try decoder.singleValueContainer().decodeNil() {
      self = .null
      return
    }
    let members = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = members.allKeys.first, members.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "A value has one storage class."))
    }
    self =
      switch key {
      case .integer: .integer(try members.decode(Int64.self, forKey: key))
      case .real: .real(try Self.real(in: members))
      case .text: .text(try members.decode(String.self, forKey: key))
      case .blob: .blob(try members.decode([UInt8].self, forKey: key))
      }
  }

  /// JSON has no infinite number, so it is written as a word.
  private static func real(
    in members: KeyedDecodingContainer<CodingKeys>
  ) throws -> Double {
    do {
      return try members.decode(Double.self, forKey: .real)
    } catch DecodingError.typeMismatch {
      switch try members.decode(String.self, forKey: .real) {
      case infinityWord: return .infinity
      case "-" + infinityWord: return -.infinity
      default:
        throw DecodingError.dataCorruptedError(
          forKey: .real, in: members, debugDescription: "The value is not a real number.")
      }
    }
  }

  private static let infinityWord = "Infinity"

  /// Writes the form above.
  public func encode(to encoder: any Encoder) throws {
    if isNull {
      var value = encoder.singleValueContainer()
      try value.encodeNil()
      return
    }
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: return
    case .integer(let value): try members.encode(value, forKey: .integer)
    case .real(let value) where value.isInfinite:
      try members.encode(value < 0 ? "-" + Self.infinityWord : Self.infinityWord, forKey: .real)
    case .real(let value): try members.encode(value, forKey: .real)
    case .text(let value): try members.encode(value, forKey: .text)
    case .blob(let value): try members.encode(value, forKey: .blob)
    }
  }
}
