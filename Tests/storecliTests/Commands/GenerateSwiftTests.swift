import Foundation
import ModelStore
import Testing

/// Generated source is compiled, and the compiled program opens the file.
@Suite(
  .tags(.process), .enabled(if: SwiftProgram.isAvailable, "needs the modules of a debug build"))
struct GenerateSwiftTests {
  /// Opens the file with what was generated, compares it with an untouched copy, and reads all.
  private static let harness = """
    import ModelStore

    func count<M: Model>(_ type: M.Type, in store: Store) throws -> Int {
      try store.fetch(M.all).count
    }

    let path = CommandLine.arguments[1]
    let plan = try Store.migrationPlan(at: path, models: StoreDeclarations.models)
    print("planned: \\(plan.steps.count)")
    let store = try StoreDeclarations.open(at: path)
    let copy = try Store(at: CommandLine.arguments[2])
    for difference in try store.schemaDifferences(from: copy) { print(difference) }
    for finding in try store.bindingFindings() { print(finding) }
    for drift in try store.schemaDrift() { print(drift) }
    for drift in try store.adoptedDrift() { print(drift) }
    for model in StoreDeclarations.models {
      print("\\(model.schema.name): \\(try count(model, in: store))")
    }

    """

  /// What the program prints, and what the catalog says before and after it ran.
  private struct Opened: Equatable {
    var lines: [String]
    var before: [String]
    var after: [String]
  }

  /// Generates, compiles and runs.
  private func opened(_ file: String, _ options: [String], in place: Workplace) throws -> Opened {
    let generated = try place.run(["generate", "swift", "--to", "Models.swift"] + options)
    try #require(generated.code == 0, "\(generated)")
    let source = try place.contents(of: "Models.swift")
    var main = Self.harness
    for line in source.split(separator: "\n") {
      guard line.contains("struct "), line.hasSuffix(": Codable, Hashable, Sendable {"),
        let name = line.firstMatch(of: #/struct (\w+):/#)?.output.1
      else { continue }
      main +=
        "print(\"\(name) rows: \\(try store.read { tx in try tx.rows(\(name).all, as: \(name).self).count })\")\n"
    }
    try place.write(main, to: "main.swift")
    let complaints = try SwiftProgram.compile(
      ["Models.swift", "main.swift"], to: "opener", in: place)
    try #require(complaints == "", "\(complaints)\n\(source)")
    let copy = place.path("copy.store")
    try #require(try place.run("backup", copy).code == 0)
    let before = try catalog(in: place)
    let lines = try SwiftProgram.run("opener", [file, copy], in: place)
    return Opened(lines: lines, before: before, after: try catalog(in: place))
  }

  /// Everything that the file says about its models.
  private func catalog(in place: Workplace) throws -> [String] {
    let names = try place.run("models", "-q", "--fields", "model").out.split(separator: "\n")
    return try names.map { try place.run("models", String($0), "--json").out } + [
      try place.run("bindings", "list", "--json").out, try place.run("rules", "list", "--json").out,
    ]
  }

  @Test(
    "a program with the generated models of the demonstration opens it without a difference",
    arguments: [[], ["--form", "by-hand", "--access", "public"]])
  func demonstration(options: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    let found = try opened(place.path("music.store"), options, in: place)
    #expect(found.before == found.after)
    #expect(
      found.lines == ["planned: 0"]
        + (try place.run("models", "-q", "--fields", "model,records").out)
        .split(separator: "\n").map { String($0).replacing("\t", with: ": ") })
  }

  @Test(
    "a program with the generated models of random schemas opens them without a difference",
    arguments: [1, 2] as [UInt64])
  func randomSchemas(seed: UInt64) throws {
    let place = try Workplace()
    let file = place.path("random.store")
    place.environment["STORECLI_DB"] = file
    let world = RandomModels(seed: seed)
    let store = try Store(
      at: file,
      declaring: Declarations(models: world.models, bindings: world.bindings, rules: world.rules),
      configuration: StoreConfiguration(), onError: { _ in })
    store.close()
    let options = seed == 1 ? [] : ["--form", "by-hand", "--access", "public"]
    let found = try opened(file, options, in: place)
    #expect(found.before == found.after, "seed \(seed)")
    let names = world.models.map(\.name).sorted()
    #expect(found.lines == ["planned: 0"] + names.map { "\($0): 0" }, "seed \(seed)")
  }

  @Test("fields and models may be called like what the generated source uses")
  func namesOfTheSource() throws {
    let place = try Workplace()
    let file = place.path("names.store")
    place.environment["STORECLI_DB"] = file
    let fields = ["row", "arguments", "sqlValues"].map { FieldSchema(name: $0, type: .text) }
    let models = [
      ModelSchema(
        name: "Decoder",
        fields: fields + [FieldSchema(name: "content", type: .json)], key: ["row", "sqlValues"]),
      ModelSchema(
        name: "Encoder", fields: fields + [FieldSchema(name: "id", type: .integer, isRowID: true)],
        key: ["id"]),
      ModelSchema(name: "DecodingError", fields: fields, key: ["arguments"]),
      ModelSchema(name: "SingleValueDecodingContainer", fields: fields, key: ["row"]),
    ]
    try Store(
      at: file, declaring: Declarations(models: models), configuration: StoreConfiguration(),
      onError: { _ in }
    ).close()
    let found = try opened(file, ["--form", "by-hand", "--access", "public"], in: place)
    #expect(found.before == found.after)
    #expect(found.lines == ["planned: 0"] + models.map { "\($0.name): 0" }.sorted())
  }

  @Test("tables of a trading company become structs that read every row")
  func trade() throws {
    let place = try Workplace()
    let file = place.path("trade.sqlite")
    try RawDatabase(file).execute(ForeignSchemas.trade)
    place.environment["STORECLI_DB"] = file
    try #require(try place.run("adopt").code == 0)
    let found = try opened(file, [], in: place)
    #expect(found.before == found.after)
    #expect(
      found.lines == [
        "planned: 0", "Categories rows: 2", "Customers rows: 1", "Employees rows: 2",
        "OrderDetails rows: 2", "OrderSubtotals rows: 1", "Orders rows: 2", "Products rows: 2",
      ])
    let source = try place.contents(of: "Models.swift")
    for line in [
      "/// - rule: [Quantity] > (0)", "  var Discount: Double",
      "    case SubTotal = \"Sub total\"", "/// - CustomerID: refers to Customers.CustomerID",
      "  var Picture: SQLValue", "/// - BirthDate: date as YYYY-MM-DD",
    ] {
      #expect(source.contains(line + "\n"), "\(line)\n\(source)")
    }
  }

  @Test("tables with a collation of their own become structs that read every row")
  func cards() throws {
    let place = try Workplace()
    let file = place.path("cards.anki2")
    let raw = try RawDatabase(file)
    try raw.registerCollation("unicase")
    try raw.execute(ForeignSchemas.cards)
    place.environment["STORECLI_DB"] = file
    try #require(try place.run("adopt").code == 0)
    let found = try opened(file, ["--access", "public"], in: place)
    #expect(found.before == found.after)
    #expect(
      found.lines == [
        "planned: 0", "Col rows: 1", "Config rows: 1", "Fields rows: 2", "Graves rows: 0",
        "Notes rows: 2", "Notetypes rows: 1", "Revlog rows: 1",
      ])
    let source = try place.contents(of: "Models.swift")
    // Its column is declared as an integer, and the program stores texts in it.
    #expect(source.contains("  public var sfld: SQLValue\n"), "\(source)")
    #expect(source.contains("/// - name: collation unicase\n"), "\(source)")
  }

  @Test(
    "the tables of the music shop become structs that read every row",
    .enabled(if: ChinookTests.isThere, "needs shared/data/chinook.sqlite beside the project"))
  func musicShop() throws {
    let place = try Workplace()
    let file = place.path("chinook.sqlite")
    try FileManager.default.copyItem(atPath: ChinookTests.sample.path, toPath: file)
    chmod(file, 0o644)
    place.environment["STORECLI_DB"] = file
    try #require(try place.run("adopt").code == 0)
    let found = try opened(file, [], in: place)
    #expect(found.before == found.after)
    let models = try place.run("models", "-q", "--fields", "model,records").out
    #expect(
      found.lines == ["planned: 0"]
        + models.split(separator: "\n").map { String($0).replacing("\t", with: " rows: ") })
  }
}

/// What `generate swift` writes, without a compiler.
@Suite(.tags(.process)) struct GeneratedSwiftTextTests {
  @Test("a model reads as if a person had written it")
  func text() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run("generate", "swift", "Album")
    #expect(outcome.code == 0)
    let omitted =
      "The validator Album.notBeforeArtist is Swift code, which the file does not contain."
    #expect(outcome.err == "note: \(omitted)\n")
    #expect(
      outcome.out == """
        // Models of a store, written by `storecli generate swift`.
        //
        // \(omitted)

        import ModelStore

        struct Album: CodableModel, Hashable {
          var id: Int64
          var title: String
          var year: Int64
          var artistID: Int64
          var artistName: String?

          var key: Int64 { id }

          static let definition = ModelDefinition<Album>(
            "Album",
            key: \\.id,
            fields: [
              .init("id", \\.id),
              .init("title", \\.title, rules: [.length(1...120)]),
              .init("year", \\.year, rules: [.range(1900...2100)]),
              .init(
                "artistID",
                \\.artistID,
                reference: ReferenceSchema(table: "Artist", onDelete: .cascade)),
              .init("artistName", \\.artistName),
            ])
        }

        /// What the file declares.
        enum StoreDeclarations {
          static let models: [any Model.Type] = [
            Album.self,
          ]

          static let bindings: [FieldBinding] = []

          static let rules: [Rule] = []

          /// Opens the store at `path` with these declarations.
          ///
          /// - Parameter migrations: Those that the file has had, and newer ones.
          static func open(
            at path: String, migrations: [Migration] = [],
            configuration: StoreConfiguration = StoreConfiguration()
          ) throws -> Store {
            try Store(
              at: path, models: models, migrations: migrations, bindings: bindings, rules: rules,
              configuration: configuration)
          }
        }

        """)
  }

  @Test("the same file gives the same text, and a model that is added changes only its own lines")
  func stability() throws {
    let place = try Workplace()
    try place.makeMusic()
    let first = try place.run("generate", "swift").out
    #expect(try place.run("generate", "swift").out == first)
    try RawDatabase(place.path("music.store")).execute(
      "CREATE TABLE Zebra (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO Zebra VALUES (1, 'Z')")
    #expect(try place.run("adopt", "Zebra").code == 0)
    let second = try place.run("generate", "swift").out
    let lost = Set(first.split(separator: "\n")).subtracting(second.split(separator: "\n"))
    #expect(lost == [])
  }

  @Test("names that Swift takes are replaced, and said")
  func takenNames() throws {
    let place = try Workplace()
    let file = place.path("names.store")
    place.environment["STORECLI_DB"] = file
    let models = [
      ModelSchema(
        name: "string",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(name: "key", type: .text), FieldSchema(name: "class", type: .text),
          FieldSchema(name: "unit price", type: .integer),
          FieldSchema(name: "unitPrice", type: .integer), FieldSchema(name: "%", type: .integer),
          FieldSchema(name: "2nd", type: .integer),
          FieldSchema(name: "a\"\\b\u{202E}", type: .text),
        ], key: ["id"])
    ]
    try Store(
      at: file, declaring: Declarations(models: models), configuration: StoreConfiguration(),
      onError: { _ in }
    ).close()
    let outcome = try place.run("generate", "swift")
    #expect(
      outcome.err == """
        note: The model string is the type StringModel, because String is taken.
        note: string.key is the property keyField, because key is taken.
        note: string.unitPrice is the property unitPrice2, because unitPrice is taken.

        """)
    #expect(
      outcome.out.contains(
        """
          enum CodingKeys: String, CodingKey {
            case id
            case keyField = "key"
            case `class`
            case unitPrice = "unit price"
            case unitPrice2 = "unitPrice"
            case field = "%"
            case _2nd = "2nd"
            case aB = "a\\"\\\\b\\u{202E}"
          }
        """), "\(outcome.out)")
  }

  @Test("unknown models, a file that is read and other mistakes are refused")
  func mistakes() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("generate", "swift", "Albm")
        == Outcome(
          code: 3, out: "",
          err: "error[unknownModel]: There is no model Albm; did you mean Album?\n"
            + "hint: storecli models Album\n"))
    #expect(try place.run("generate", "swift", "--to", place.path("music.store")).code == 64)
    #expect(try place.run("generate", "swift", "--form", "macro").code == 64)
    #expect(try place.run("generate", "swift", "-o", "csv").code == 64)
    #expect(try place.run("generate", "dot", "--fields", "a").code == 64)
    #expect(try place.run("generate", "sql", "-d", "missing.store").code == 3)
    #expect(try place.run("generate", "swift", "--to", "no/such/folder.swift").code == 3)
  }
}
