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

  var texts: [String] { ["\(line)", reason] }

  var members: [JSONValue.Member] {
    [.init(Self.lineName, .integer(Int64(line))), .init(Self.reasonName, .string(reason))]
  }
}
