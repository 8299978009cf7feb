@testable import ModelStore

/// The records that result from applying the changes that `watch` reports, one by one.
struct ToldRecords {
  /// One field of one record.
  struct Place: Hashable {
    let model: String
    let key: Int64
    let field: String
  }

  typealias Image = [String: SQLValue]

  private(set) var records: [String: [[SQLValue]: Image]]
  /// The position of each reported change, in order.
  private(set) var positions: [Int64] = []
  /// What each of the followed fields became, one after the other.
  private(set) var values: [Place: [SQLValue]]
  /// What did not fit what was there.
  private(set) var objections: [String] = []

  /// - Parameters:
  ///   - records: What is there at the beginning, by model.
  ///   - places: The fields whose values are kept.
  init(_ records: [String: [[SQLValue]: Image]], following places: [Place] = []) {
    self.records = records
    values = Dictionary(uniqueKeysWithValues: places.map { ($0, []) })
  }

  mutating func take(_ line: ToldLine) {
    if let position = line.position {
      if let last = positions.last, position <= last { object(line, "comes after \(last)") }
      positions.append(position)
    }
    let known = records[line.model]?[line.key]
    switch line.operation {
    case "snapshot", "insert":
      if known != nil { object(line, "is there already") }
      records[line.model, default: [:]][line.key] = line.image
    case "update":
      guard var image = known else { return object(line, "is not there") }
      for (name, value) in line.before where image[name] != value {
        object(line, "had \(name) \(image[name].map { "\($0)" } ?? "none")")
      }
      image.merge(line.image) { _, new in new }
      records[line.model]?[line.key] = image
    default:
      if known != line.before { object(line, "was \(known.map { "\($0)" } ?? "not there")") }
      records[line.model]?[line.key] = nil
    }
    guard case .integer(let key)? = line.key.first else { return }
    for (name, value) in line.image {
      values[Place(model: line.model, key: key, field: name)]?.append(value)
    }
  }

  private mutating func object(_ line: ToldLine, _ reason: String) {
    objections.append("\(line.operation) \(line.model) \(line.key) \(line.fields): it \(reason)")
  }
}

/// The result that follows from applying the steps that `watch` reports of it, one by one.
struct ToldResult {
  private(set) var keys: [[SQLValue]] = []
  private(set) var records = ToldRecords([:])
  private(set) var objections: [String] = []
  /// The lines of the step that may continue.
  private var waiting: [ToldLine] = []

  /// The records in order.
  var images: [ToldRecords.Image?] {
    keys.map { key in records.records.values.first?[key] }
  }

  mutating func take(_ line: ToldLine) {
    if line.step != waiting.last?.step { settle() }
    waiting.append(line)
  }

  /// Takes the last step for complete.
  mutating func settle() {
    for line in waiting { records.take(line) }
    var leaving: Set<Int> = []
    for line in waiting {
      guard let index = line.places.old else { continue }
      guard keys.indices.contains(index), keys[index] == line.key else {
        objections.append("\(line.key) was not at \(index)")
        continue
      }
      leaving.insert(index)
    }
    keys = keys.indices.filter { !leaving.contains($0) }.map { keys[$0] }
    let arriving = waiting.compactMap { line in line.places.new.map { ($0, line.key) } }
    for (index, key) in arriving.sorted(by: { $0.0 < $1.0 }) {
      guard index <= keys.count else {
        objections.append("\(key) came to \(index) of \(keys.count)")
        continue
      }
      keys.insert(key, at: index)
    }
    waiting = []
  }
}
