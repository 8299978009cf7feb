import Foundation

/// A reproducible source of randomness (SplitMix64), not for secrets. A test that fails prints its
/// seed; `make fuzz SEED=n` shifts every test's seeds by `n`.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed &+ Self.shift
  }

  private static let shift =
    ProcessInfo.processInfo.environment["MODELSTORE_SEED"].flatMap { UInt64($0) } ?? 0

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
