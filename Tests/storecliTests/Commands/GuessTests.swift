import Testing

@testable import StoreCommand

/// What people write who know another program: the error says what to write here.
@Suite(.tags(.process)) struct GuessTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE products (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, stock INTEGER, is_vip BOOLEAN);
      INSERT INTO products VALUES (1, 'Tea', 1.5, 7, 0), (2, 'Cup', 4, 3, 1);
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  @Test(arguments: [
    (["-dshop.db", "models", "-q"], ["models", "-q"]),
    (["models", "-dshop.db", "-q"], ["models", "-q"]),
    (["-ojson", "query", "products", "-q"], ["query", "products", "-q", "--json"]),
    (["query", "products", "-ojson", "-q"], ["query", "products", "-q", "--json"]),
  ])
  func aShortOptionMayHaveItsValueAttached(written: [String], usual: [String]) throws {
    let place = try shop()
    let (outcome, expected) = (try place.run(written), try place.run(usual))
    #expect(outcome.code == 0 && outcome == expected, "\(outcome)")
  }

  @Test func aValueThatLooksLikeAnAttachedOptionStays() {
    #expect(
      AttachedValues.separated(["query", "T", "--sort", "-date", "-dx", "-d=y", "--", "-oz"])
        == ["query", "T", "--sort", "-date", "-d=x", "-d=y", "--", "-oz"])
  }

  @Test(arguments: ["-x", "-hx", "--nosuch", "-xdshop"])
  func anUnknownOptionBeforeTheCommandIsWrongUsage(option: String) throws {
    #expect(
      try shop().run(option, "models")
        == Outcome(
          code: 64, out: "",
          err: """
            error[usage]: \(option) is not a common option. Write it after the command.
            hint: storecli help options

            """))
  }

  @Test func aConfigurationWithoutADatabaseIsAnError() throws {
    let place = try Workplace()
    let file = place.path("storecli.toml")
    try place.write("database = \"shop.db\"\n", to: "storecli.toml")
    #expect(
      try place.run("models")
        == Outcome(
          code: 1, out: "",
          err: """
            error[configuration]: \(file) was found but has no db; line 1 names database. \
            Write db = "shop.db".

            """))
    try place.write("db = \"shop.db\"\nshareing = \"group\"\n", to: "storecli.toml")
    #expect(
      try place.run("models").err == """
        error[configuration]: \(file), line 2: there is no setting shareing; did you mean sharing?

        """)
  }

  @Test(arguments: [
    (["list"], "There is no command list.", "storecli models, or storecli query MODEL"),
    (["ls", "products"], "There is no command ls.", "storecli query products"),
    (["select", "products"], "There is no command select.", "storecli query products"),
    (["count", "products"], "There is no command count.", "storecli query products --count"),
    (["tables"], "There is no command tables.", "storecli models"),
    (["add", "products"], "There is no command add.", "storecli insert products"),
    (["rm", "products", "1"], "There is no command rm.", "storecli delete products"),
    (["set", "products"], "There is no command set.", "storecli update products"),
    (["sql"], "There is no command sql.", "storecli query --sql 'SELECT …'"),
    (["dump"], "There is no command dump.", "storecli export MODEL"),
    (["Products"], "products is a model.", "storecli query products"),
    (
      ["-dshop.db", "products"], "products is a model.", "storecli query products -d shop.db"
    ),
    (["shop.db"], "shop.db is a file, not a command.", "storecli models -d shop.db"),
    (
      ["shop.db", "query", "products"], "shop.db is a file, not a command.",
      "storecli query products -d shop.db"
    ),
    (
      ["adopt", "shop.db"], "shop.db is a file; adopt takes the names of tables.",
      "storecli adopt -d shop.db"
    ),
    (
      ["query", "products", "--columns", "id"], "There is no option --columns.",
      "write --fields A,B"
    ),
    (
      ["query", "products", "--order-by=id"], "There is no option --order-by.", "write --sort FIELD"
    ),
    (["query", "products", "--desc"], "There is no option --desc.", "write --sort -FIELD"),
    (["query", "products", "--format", "csv"], "There is no option --format.", "write -o FORMAT"),
    (
      ["update", "products", "name=x"], "The key is missing.", "storecli update products KEY name=x"
    ),
    (
      ["update", "products", "1", "stock-=5"],
      "There is no -= for stock; add a negative number.", "write stock+=-5"
    ),
  ])
  func aGuessedCommandLineIsAnsweredWithTheRightOne(
    words: [String], message: String, hint: String
  ) throws {
    let outcome = try shop().run(words)
    #expect(
      outcome == Outcome(code: 64, out: "", err: "error[usage]: \(message)\nhint: \(hint)\n"))
  }

  @Test(arguments: [
    (["--sort", "price desc"], "--sort -price sorts in descending order"),
    (["--sort", "price:desc"], "--sort -price sorts in descending order"),
    (["--sort", "'price' DESC"], "--sort -price sorts in descending order"),
    (["--sort", "price", "desc"], "--sort -price sorts in descending order"),
    (["lower(name) = 'tea'"], "a predicate has no functions; use query --sql"),
    (["price > 1 and length (name) > 2"], "a predicate has no functions; use query --sql"),
    (["price * 2 > 3"], "a predicate has no arithmetic; use query --sql"),
    (["is_vip = yes"], "true or false"),
    (["name = 'Tea"], "write '' for a quote in text"),
  ])
  func aConditionOrAnOrderOfSQLIsAnsweredWithAHint(words: [String], hint: String) throws {
    let outcome = try shop().run(["query", "products"] + words)
    #expect(outcome.code == 64 && outcome.err.hasSuffix("\nhint: \(hint)\n"), "\(outcome)")
  }

  @Test func aValueThatWasMeantAsNullOrAsTextIsAnsweredWithAHint() throws {
    let place = try shop()
    let null = try place.run("update", "products", "1", "price=null")
    #expect(null.code == 4 && null.err.hasSuffix("\nhint: price:null sets null\n"), "\(null)")
    let text = try place.run("update", "products", "1", "name=@me")
    #expect(
      text.code == 3 && text.err.hasSuffix("\nhint: name:=@me takes the text literally\n"),
      "\(text)")
    #expect(try place.run("update", "products", "1", "name:=@me").code == 0)
  }
}
