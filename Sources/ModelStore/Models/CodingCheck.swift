extension CodableModel {
  /// Compares the coding keys with the definition's fields before any record is read.
  ///
  /// The type decodes itself from sample values. The check notes the keys that it asks for. Then it
  /// decodes the type from other samples, and compares what the key paths of the fields read.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema`; the message lists all differences.
  static func checkCoding() throws(StoreError) {
    let plan = definition.coding
    guard plan === definition.coding else {
      throw StoreError(
        .unsupportedSchema,
        "\(schema.name): declare the definition as a static let. Now each use creates another one.",
        model: schema.name)
    }
    let asked = AskedKeys()
    do {
      _ = try Self(from: SampleDecoder(names: plan.names, asked: asked))
    } catch {
      // A type may refuse a sample. The keys up to there are known; a later one that is wrong
      // throws when a record is read or written.
    }
    var problems = asked.problems(in: plan)
    if problems.isEmpty { problems = crossedPaths(plan) }
    guard let first = problems.first else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(schema.name) and its coding keys differ: \(problems.map(\.text).joined(separator: "; ")).",
      model: schema.name, field: first.field)
  }

  /// Returns the fields whose key path reads what the type decodes under another field's name.
  ///
  /// A value that `init(from:)` changes proves nothing. So a key path must read the value of the
  /// other field in every decoding, among them some in which only one of the two has another value.
  private static func crossedPaths(_ plan: CodingPlan) -> [(field: String, text: String)] {
    let trials = SampleTrial.all(plan.names) { decoder in
      let record = try Self(from: decoder)
      return try plan.names.indices.map { try definition.sqlValue(of: record, at: $0) }
    }
    var problems: [(field: String, text: String)] = []
    for (index, name) in plan.names.enumerated() {
      guard
        let other = plan.names.indices.first(where: { other in
          other != index && SampleTrial.isCrossed(index, with: other, in: trials)
        })
      else { continue }
      problems.append(
        (name, "the key path of the field \(name) reads the value of the key \(plan.names[other])"))
    }
    return problems
  }
}

extension Model {
  /// Compares the key paths of the fields with each other.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` if fields have the same key path.
  static func checkPaths() throws(StoreError) {
    let twins = definition.fieldsWithSamePath
    guard let first = twins.first else { return }
    let list = twins.map { $0.joined(separator: " and ") }.joined(separator: "; ")
    throw StoreError(
      .unsupportedSchema,
      "\(schema.name): these fields have the same key path: \(list). Each field needs its own.",
      model: schema.name, field: first.last)
  }
}

/// One decoding of a type from samples.
private struct SampleTrial {
  /// Whether each field had the second of its two samples.
  let isSecond: [Bool]
  /// What was decoded under the name of each field.
  let decoded: [SQLValue?]
  /// What the key path of each field read from the record.
  let read: [SQLValue]

  /// Decodes so often that any two fields differ in some decoding, in either direction. Decodings
  /// that the type refuses are left out.
  static func all(
    _ names: [String], _ read: (SampleDecoder) throws -> [SQLValue]
  ) -> [SampleTrial] {
    var trials: [SampleTrial] = []
    let samples = ColumnSamples()
    // The last bit is 0 in all numbers: the decodings with only first and only second samples.
    let bits = 0...(Int.bitWidth - names.count.leadingZeroBitCount)
    for (bit, expected) in bits.flatMap({ [($0, 1), ($0, 0)] }) {
      let isSecond = names.indices.map { ($0 + 1) >> bit & 1 == expected }
      let seconds = Set(names.indices.filter { isSecond[$0] }.map { names[$0] })
      let asked = AskedKeys()
      let decoder = SampleDecoder(
        names: names, asked: asked, samples: samples, trial: .init(seconds: seconds))
      do {
        let read = try read(decoder)
        trials.append(
          SampleTrial(isSecond: isSecond, decoded: names.map { asked.values[$0] }, read: read))
      } catch {
        // The type refuses these samples. It may accept those of the other decodings.
      }
    }
    return trials
  }

  /// Returns whether the key path of `field` reads what is decoded for `other`.
  static func isCrossed(_ field: Int, with other: Int, in trials: [SampleTrial]) -> Bool {
    guard trials.allSatisfy({ $0.read[field] == $0.decoded[other] }) else { return false }
    func differ(second: Int, first: Int) -> SampleTrial? {
      trials.first { trial in
        trial.isSecond[second] && !trial.isSecond[first]
          && trial.decoded[field] != trial.decoded[other]
      }
    }
    guard let own = differ(second: field, first: other),
      let others = differ(second: other, first: field)
    else { return false }
    return own.decoded[other] != others.decoded[other]
  }
}

/// The keys that a type asked its decoder for.
final class AskedKeys {
  /// Each once. A type may ask whether there is a value before it decodes it.
  private var keys: [(name: String, type: Any.Type?)] = []
  /// One for each type of coding keys: whether it has a key with this name.
  private var hasKey: [(String) -> Bool] = []
  /// What the type got under each name, as it would be stored.
  private(set) var values: [String: SQLValue] = [:]

  func note<Key: CodingKey>(_ type: Key.Type) {
    hasKey.append { Key(stringValue: $0) != nil }
  }

  func note(_ key: some CodingKey, _ type: Any.Type? = nil) {
    if let index = keys.firstIndex(where: { $0.name == key.stringValue }) {
      keys[index].type = keys[index].type ?? type
    } else {
      keys.append((key.stringValue, type))
    }
  }

  /// Notes the value under a key.
  func note(_ value: any Decodable, under key: some CodingKey) throws {
    values[key.stringValue] = try (value as? any ColumnValue)?.sqlValue()
  }

  func problems(in plan: CodingPlan) -> [(field: String, text: String)] {
    guard !hasKey.isEmpty else { return [(plan.names[0], "the type does not decode by keys")] }
    var problems: [(field: String, text: String)] = []
    for (name, type) in keys {
      let isStorable = type.map { $0 is any ColumnValue.Type } ?? true
      let remedy = isStorable ? "" : "; a column holds its value only as JSON"
      if !plan.has(name) {
        problems.append((name, "the key \(name) is not among the fields\(remedy)"))
      } else if !isStorable {
        problems.append((name, "the value of \(name) is not a column value\(remedy)"))
      }
    }
    for name in plan.names where !hasKey.contains(where: { $0(name) }) {
      problems.append((name, "the field \(name) is not among the keys"))
    }
    return problems
  }
}
