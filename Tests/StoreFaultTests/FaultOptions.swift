import Foundation

/// How many faults each suite makes: the bounded counts that every run has time for, or those that
/// `make faults` is given.
enum FaultOptions {
  /// Kills of programs that write: `MODELSTORE_KILLS`.
  static let killCount = count("MODELSTORE_KILLS", otherwise: 200)
  /// Power cuts: `MODELSTORE_CUTS`.
  static let cutCount = count("MODELSTORE_CUTS", otherwise: 60)
  /// Files that are damaged and read: `MODELSTORE_MUTATIONS`.
  static let mutationCount = count("MODELSTORE_MUTATIONS", otherwise: 1000)

  private static func count(_ name: String, otherwise standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  /// The seed of this run: `MODELSTORE_SEED`, or a new one. Tests print it.
  static let seed: UInt64 =
    ProcessInfo.processInfo.environment["MODELSTORE_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: 0...UInt64.max)
}

/// A reproducible source of randomness (SplitMix64), not for secrets.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
