/// W4: one record by its key, with random keys, each lookup timed alone.
struct LookupWorkload {
  /// The transaction around a lookup.
  enum Bracket: String {
    /// None: each lookup is a separate read.
    case single
    /// One read transaction around all lookups of a run.
    case transaction
  }

  let bracket: Bracket
  /// The records in the table.
  let count: Int
  /// The maximum number of lookups in one run.
  let lookupCount = 20_000

  var workload: Workload {
    let place = bracket == .single ? "each a read of its own" : "in one read transaction"
    return Workload(
      id: "W4-\(bracket.rawValue)",
      title: "one record by key out of \(count.grouped), \(place)",
      unit: "record",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }

  /// The keys of a run, the same for every contender.
  var keys: [Int64] {
    var generator = SeededGenerator(seed: 0x10_0CA7)
    return (0..<lookupCount).map { _ in Int64.random(in: 1...Int64(count), using: &generator) }
  }

  /// Throws if the record is not the requested one.
  @inline(__always)
  static func require(_ record: (some TrackRecord)?, hasKey key: Int64) throws {
    guard record?.id == key else { throw BenchmarkFailure("Key \(key) found another record.") }
  }
}
