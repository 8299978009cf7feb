import Testing

@testable import ModelStore

/// What several observers derive from one value, without a store.
@Suite(.tags(.unit)) struct DerivedValuesTests {
  private final class Length: Sendable {
    let count: Int

    init(_ count: Int) { self.count = count }
  }

  private final class Title: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
  }

  @Test func aValueIsMadeOnceAndOnlyForItsOwnTypeAndCondition() {
    let derivations = Derivations()
    let lengths = ObjectIdentifier(Length.self)
    #expect(derivations.known(lengths) { _ in true } == nil)
    let title = derivations.value(where: { $0.text == "a" }, making: { Title("a") })
    // A value of another class is not taken, although the condition would accept any.
    #expect(derivations.known(lengths) { _ in true } == nil)
    let one = derivations.value(where: { $0.count == 1 }, making: { Length(1) })
    let two = derivations.value(where: { $0.count == 2 }, making: { Length(2) })
    #expect(derivations.value(where: { $0.text == "a" }, making: { Title("b") }) === title)
    #expect(derivations.value(where: { $0.count == 1 }, making: { Length(3) }) === one)
    #expect(derivations.value(where: { $0.count == 2 }, making: { Length(3) }) === two)
    let found = derivations.known(lengths) { unsafeDowncast($0, to: Length.self).count == 2 }
    #expect(found === two)
    #expect(
      derivations.known(lengths) { unsafeDowncast($0, to: Length.self).count == 3 } == nil)
  }

  @Test func beyondTheSharedValuesEachCallerMakesItsOwn() {
    let derivations = Derivations()
    func length(_ count: Int) -> Length {
      derivations.value(where: { $0.count == count }, making: { Length(count) })
    }
    let first = (0..<12).map { length($0) }
    let again = (0..<12).map { length($0) }
    #expect(again.map(\.count) == Array(0..<12))
    #expect(zip(first, again).map { $0 === $1 } == (0..<12).map { $0 < Derivations.depthMax })
  }
}
