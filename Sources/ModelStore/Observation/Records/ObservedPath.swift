/// The path of something that can be observed: a field of a record, a record, or a model. It does
/// not contain a value.
package struct ObservedPath: Hashable, Sendable {
  /// The model's name.
  package let model: String
  /// The record's key, in key order; nil for all records of the model.
  package let key: [SQLValue]?
  /// The fields of which one must differ, in field order; empty for all.
  package let fields: [String]

  /// - Parameter key: nil for all records.
  package init(model: String, key: [SQLValue]? = nil, fields: [String] = []) {
    self.model = model
    self.key = key
    self.fields = fields
  }
}

/// The identity of an observation in a bag. A field and a record observed for that field have the
/// same path but are different targets.
struct ObservedTarget: Hashable, Sendable {
  let path: ObservedPath
  /// Whether events contain whole records.
  let isWhole: Bool
}

extension ObservedPath: CustomStringConvertible {
  /// The form in logs: `Album`, `Album[1]`, `Album[1].title`, `Album[1].{title, artistID}`.
  package var description: String {
    var text = model
    if let key { text += "[\(key.map(\.description).joined(separator: ", "))]" }
    switch fields.count {
    case 0: break
    case 1: text += ".\(fields[0])"
    default: text += ".{\(fields.joined(separator: ", "))}"
    }
    return text
  }
}
