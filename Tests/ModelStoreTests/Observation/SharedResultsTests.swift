import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct SharedResultsTests {
  private final class Shown: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  /// Entries are swept rarely, because looking at all of them for each new one would make the ten
  /// thousandth live query a thousand times slower than the tenth.
  @Test func entriesOfReleasedResultsAreRemoved() throws {
    let results = SharedResults<Int, Shown>()
    var kept: [Shown] = []
    var most = 0
    for number in 0..<10_000 {
      let shown = try results.result(for: number) { Shown(number) }
      if number.isMultiple(of: 100) { kept.append(shown) }
      most = max(most, results.count)
    }
    #expect(most <= 2 * kept.count + 17)
    for shown in kept { #expect(results.kept(shown.number) === shown) }
    #expect(results.kept(1) == nil)
  }

  @Test func anEqualKeyReturnsTheResultUntilItIsReleased() throws {
    let results = SharedResults<Int, Shown>()
    var first: Shown? = try results.result(for: 1) { Shown(10) }
    #expect(try results.result(for: 1) { Shown(20) } === first)
    first = nil
    #expect(try results.result(for: 1) { Shown(30) }.number == 30)
  }
}
