extension JSONValue {
  /// The member that marks an object as a blob: `{"$base64": "AQID"}`.
  private static let blobMemberName = "$base64"

  /// Creates the JSON value of a cell: integers and reals as numbers, a blob as `{"$base64": …}`.
  package init(_ value: CellValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .string(text)
    case .blob(let bytes):
      self = .object([Member(Self.blobMemberName, .string(Base64.encoded(bytes)))])
    }
  }

  /// The cell for this value, the inverse of ``init(_:)``; true and false are 1 and 0.
  ///
  /// Nil for arrays and for objects other than a well-formed `{"$base64": …}`, because their
  /// meaning depends on the field.
  package var cell: CellValue? {
    switch self {
    case .null: .null
    case .boolean(let truth): .integer(truth ? 1 : 0)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .string(let text): .text(text)
    case .array: nil
    case .object(let members): Self.blob(members)
    }
  }

  private static func blob(_ members: [Member]) -> CellValue? {
    guard members.count == 1, members[0].name == blobMemberName,
      case .string(let text) = members[0].value, let bytes = Base64.decoded(text)
    else { return nil }
    return .blob(bytes)
  }
}
