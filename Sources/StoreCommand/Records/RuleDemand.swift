/// The condition of `rules add`, in the words of its options.
enum RuleDemand: Hashable, Sendable {
  case required(String)
  case check(String)
  case length(String)
  case bytes(String)
  case range(String)
  case oneOf(String)
  case like(String)
  case glob(String)
  case unique(String)
  case references(String)
  case immutable(String)
  case atMost(Int)
  case sum(String)
  case noOverlap(String)

  /// Its option.
  var option: String {
    switch self {
    case .required: "--required"
    case .check: "--check"
    case .length: "--length"
    case .bytes: "--bytes"
    case .range: "--range"
    case .oneOf: "--one-of"
    case .like: "--like"
    case .glob: "--glob"
    case .unique: "--unique"
    case .references: "--references"
    case .immutable: "--immutable"
    case .atMost: "--at-most"
    case .sum: "--sum"
    case .noOverlap: "--no-overlap"
    }
  }

  /// Whether it compares records with the same values in some fields.
  var takesGroup: Bool {
    switch self {
    case .atMost, .sum, .noOverlap: true
    default: false
    }
  }

  /// Whether it can apply to some records only.
  var takesCondition: Bool {
    if case .unique = self { true } else { false }
  }
}
