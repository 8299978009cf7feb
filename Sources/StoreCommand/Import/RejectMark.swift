import RecordFormats

/// Why a record was left out, and where it was in the input: the first two fields of a record in a
/// file of rejects. An import of that file ignores them.
struct RejectMark {
  let line: Int
  let reason: String

  static let lineName = "$line"
  static let reasonName = "$reason"

  static func isMark(_ name: String) -> Bool { name == lineName || name == reasonName }

  static let names = [lineName, reasonName]

  /// What has a record of JSON that is not an object.
  static let recordName = "$record"

  /// The record in a value of a file of rejects: the member of a record that was not an object, and
  /// has been repaired. Any other value is the record itself.
  static func record(in value: JSONValue) -> JSONValue {
    guard case .object(let members) = value, members.map(\.name) == names + [recordName] else {
      return value
    }
    return members[2].value
  }

  var texts: [String] { ["\(line)", reason] }

  var members: [JSONValue.Member] {
    [.init(Self.lineName, .integer(Int64(line))), .init(Self.reasonName, .string(reason))]
  }
}
