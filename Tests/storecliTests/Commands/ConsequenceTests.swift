import Testing

@testable import StoreCommand

/// A command says what it did not do: what a binding replaced, and what the journal leaves out.
@Suite(.tags(.process)) struct ConsequenceTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(RecordedGuide.shop)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  @Test func aValueThatABindingReplacedIsReported() throws {
    let place = try shop()
    let added = try place.run(
      "bindings", "add", "aggregate", "Shelf.products", "--function", "count", "--from", "Product",
      "--through", "shelf", "--yes")
    try #require(added.code == 0, "\(added)")
    let start = "warning[bound]: Shelf.products follows the binding Shelf.products; your value "
    let updated = try place.run("update", "Shelf", "1", "products=100")
    #expect(updated.code == 0)
    #expect(updated.err.hasSuffix(start + "100 was replaced by 2.\n"), "\(updated)")
    let dry = try place.run("update", "Shelf", "1", "products=100", "-n")
    #expect(dry.err.hasSuffix(start + "100 would be replaced by 2.\n"), "\(dry)")
    let inserted = try place.run("insert", "Shelf", "id=9", "label=Empty", "products=7")
    #expect(inserted.err.hasSuffix(start + "7 was replaced by 0.\n"), "\(inserted)")
    let same = try place.run("update", "Shelf", "1", "products=2", "label=Strung")
    #expect(same.code == 0 && !same.err.contains("warning"), "\(same)")
  }

  @Test func modelsThatTheJournalLeavesOutAreNamed() throws {
    let place = try shop()
    try #require(try place.run("journal", "on").code == 0)
    try RawDatabase(place.path("shop.db")).execute(
      "CREATE TABLE extra (id INTEGER PRIMARY KEY, n INTEGER)")
    let adopted = try place.run("adopt", "extra")
    #expect(
      adopted.err.hasSuffix(
        "1 table adopted\nthe journal does not record extra (storecli journal on extra)\n"),
      "\(adopted)")
    #expect(try place.run("update", "Shelf", "1", "label=Strung").code == 0)
    #expect(try place.run("insert", "extra", "id=1").code == 0)
    let undone = try place.run("undo")
    #expect(
      undone.err.hasPrefix("changes of extra are not recorded and stay as they are\n"),
      "\(undone)")
    try #require(try place.run("journal", "on", "extra").code == 0)
    let redone = try place.run("redo")
    #expect(redone.code == 0 && !redone.err.contains("not recorded"), "\(redone)")
  }

  @Test func aPositionIsNotATransaction() throws {
    let place = try shop()
    try #require(try place.run("journal", "on").code == 0)
    #expect(try place.run("update", "Shelf", "1", "label=Strung").code == 0)
    #expect(
      try place.run("revert", "4")
        == Outcome(
          code: 3, out: "",
          err: """
            error[unknownTransaction]: 4 is a position, not a transaction. Pass the txn of its entry.
            hint: storecli history --diff

            """))
  }

  @Test func aFileWithoutTablesHasNothingToAdopt() throws {
    let place = try Workplace()
    try RawDatabase(place.path("empty.db")).execute("PRAGMA user_version = 1")
    #expect(try place.run("adopt", "-d", "empty.db").err == "the file has no tables\n")
  }

  @Test func aBadRecordOfAJSONTextIsNamedByItsNumber() throws {
    let place = try shop()
    try place.write(
      "[\n{\"id\":8,\"label\":\"A\"},\n{\"id\":9,\"label\":\"B\",\"products\":\"x\"}]\n",
      to: "in.json")
    let outcome = try place.run("import", "in.json", "--model", "Shelf")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.hasPrefix("error[invalidValue]: in.json: record 2: products "), "\(outcome)")
  }

  @Test func anOptionOfNoRuleIsNamed() throws {
    #expect(
      try shop().run("rules", "add", "Product", "--min", "id=1")
        == Outcome(
          code: 64, out: "",
          err: "error[usage]: Unknown option '--min'\nhint: storecli rules add --help\n"))
  }

  @Test func aBindingWithoutALinkNamesTheOptionsOfItsKind() throws {
    let outcome = try shop().run(
      "bindings", "add", "copy", "Product.name", "--from", "Shelf.label")
    #expect(
      outcome.code == 64
        && outcome.err.hasSuffix(
          " Pass --through FIELD, --match SOURCE=TARGET or --of KEY.\n"
            + "hint: storecli bindings add copy --help\n"),
      "\(outcome)")
  }
}
