import Foundation
import ModelStore
import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct ExactDecimalTests {
  private func sum(_ texts: String...) throws -> String {
    var sum = ExactDecimal()
    for text in texts { sum.add(try #require(ExactDecimal(text))) }
    return sum.text
  }

  @Test func sumsHaveEveryDigit() throws {
    #expect(try sum("0.1", "0.2") == "0.3")
    #expect(try sum("999999999", "1") == "1000000000")
    #expect(try sum("-1", "0.000000000000000001") == "-0.999999999999999999")
    #expect(try sum("5", "-5") == "0")
    #expect(try sum("+1.50", "1.5") == "3")
    let large = String(repeating: "9", count: 38)
    #expect(try sum(large, "0." + large) == large + "." + large)
    #expect(try sum(large, "1") == "1" + String(repeating: "0", count: 38))
  }

  @Test func aRealIsItsShortestDecimal() throws {
    for (number, text) in [
      (0.1, "0.1"), (-449.46, "-449.46"), (0, "0"), (1e21, "1000000000000000000000"),
      (1.5e-7, "0.00000015"), (123456.789, "123456.789"), (1e16, "10000000000000000"),
      (0.001, "0.001"), (-2.5e20, "-250000000000000000000"),
    ] {
      #expect(try #require(ExactDecimal(number)).text == text)
    }
    #expect(ExactDecimal(Double.infinity) == nil)
  }

  /// SQLite's own sum of these is 0.30000000000000004.
  @Test func decimalsThatAreStoredAsRealsAreSummedExactly() throws {
    let place = try Workplace()
    try RawDatabase(place.path("n.db")).execute(
      """
      CREATE TABLE Item (id INTEGER PRIMARY KEY, price NUMERIC(10,2), pieces DECIMAL);
      INSERT INTO Item VALUES (1, 0.1, 2), (2, 0.2, 3), (3, NULL, 9223372036854775807);
      """)
    place.environment["STORECLI_DB"] = place.path("n.db")
    try #require(try place.run("adopt").code == 0)
    #expect(
      try place.run("query", "Item", "--sum", "price", "-q", "-o", "json").out
        == "[\n{\"sum_price\":0.3}\n]\n")
    #expect(
      try place.run("query", "Item", "id < 3", "--sum", "pieces", "--avg", "pieces,price", "-q").out
        == "5\t2.5\t0.15\n")
    #expect(try place.run("query", "Item", "--sum", "pieces").err.contains("does not fit 64 bits"))
  }

  @Test(arguments: ["", "-", "1.", ".5", "1e5", "1.2.3", "12a", " 1", "inf"])
  func otherTextsAreNoDecimals(text: String) {
    #expect(ExactDecimal(text) == nil)
  }

  @Test func aMeanIsExactOrRoundedBeyondItsDigits() throws {
    #expect(try #require(ExactDecimal("1")).quotientText(by: 4) == "0.25")
    #expect(try #require(ExactDecimal("10")).quotientText(by: 3) == "3.333333333")
    #expect(try #require(ExactDecimal("-20")).quotientText(by: 3) == "-6.666666667")
    #expect(try #require(ExactDecimal("0.000000001")).quotientText(by: 3) == "0.000000000333333333")
    #expect(try #require(ExactDecimal("2.9999999999")).quotientText(by: 1) == "2.9999999999")
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func sumsAndOrderAgreeWithWholeNumbers(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let left = Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &generator)
      let right = Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &generator)
      let times = Int64.random(in: 1...9, using: &generator)
      var number = try #require(ExactDecimal(thousandths(left)))
      let other = try #require(ExactDecimal(thousandths(right)))
      #expect(number.isLess(than: other) == (left < right), "seed \(seed)")
      number.add(other, times: times)
      let expected = try #require(ExactDecimal(thousandths(left + right * times)))
      #expect(number == expected, "seed \(seed): \(left) \(right) \(times)")
    }
  }

  private func thousandths(_ number: Int64) -> String {
    let digits = String(number.magnitude)
    let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    return (number < 0 ? "-" : "") + padded.dropLast(3) + "." + padded.suffix(3)
  }

  /// A model with decimals, which SQLite stores as texts.
  @Test func aggregatesOfDecimalsAreExact() throws {
    let place = try Workplace()
    let store = try Store(at: place.path("p.db"), models: Payment.self)
    try store.write { transaction in
      for (id, kind, amount) in [
        (1, "a", "0.1"), (2, "a", "0.2"), (3, "b", "9"), (4, "b", "10.000000000000000000000001"),
        (5, "c", nil),
      ] {
        try transaction.insert(
          Payment(id: Int64(id), kind: kind, amount: amount.flatMap { Decimal(string: $0) }))
      }
    }
    store.close()
    let words = [
      "query", "Payment", "-d", place.path("p.db"), "--by", "kind", "--sum", "amount", "--avg",
      "amount", "--min", "amount", "--max", "amount", "-q",
    ]
    #expect(
      try place.run(words + ["--sort", "-max_amount"]).out == """
        b\t19.000000000000000000000001\t9.5000000000000000000000005\t9\t10.000000000000000000000001
        a\t0.3\t0.15\t0.1\t0.2
        c\t\t\t\t

        """)
    #expect(
      try place.run(words + ["--sort", "sum_amount", "--limit", "1", "--offset", "1"]).out
        == "a\t0.3\t0.15\t0.1\t0.2\n")
    #expect(
      try place.run(
        "query", "Payment", "-d", place.path("p.db"), "--sum", "amount", "--count", "-q"
      ).out == "5\t19.300000000000000000000001\n")
  }
}

private struct Payment: CodableModel {
  var id: Int64
  var kind: String
  var amount: Decimal?

  var key: Int64 { id }

  static let definition = ModelDefinition<Payment>(
    "Payment", key: \.id,
    fields: [.init("id", \.id), .init("kind", \.kind), .init("amount", \.amount)])
}
