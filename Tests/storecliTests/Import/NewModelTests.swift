import Foundation
import ModelStore
import RecordFormats
import Testing

@testable import StoreCommand

/// `import --new-model` makes a table of an input, and changes no value of it.
@Suite(.tags(.process)) struct NewModelTests {
  private func empty() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("new.db")).execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE Old(id INTEGER PRIMARY KEY);"
    )
    place.environment["STORECLI_DB"] = place.path("new.db")
    try #require(try place.run("adopt", "-q").code == 0)
    return place
  }

  /// Each column's name and type.
  private func types(_ outcome: Outcome) -> [String] {
    outcome.out.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).prefix(2).joined(separator: " ")
    }
  }

  private static let people = """
    zip,born,joined,active,pay,score,count,phone,name,mixed,none,long
    00601,1999-12-31,2020-01-02T03:04:05Z,true,12.50,1.5,1,+4930123,Ann,1,,1234567890123456
    10115,2000-02-29,2020-01-02T03:04:06Z,false,3.00,2.25,20,+4930124,"2",x,,1
    """

  @Test func aBooleanInOtherLettersStaysText() throws {
    let place = try empty()
    try place.write("id,flag\n1,TRUE\n2,False\n", to: "flags.csv")
    try #require(
      try place.run("import", "flags.csv", "--new-model", "F", "--key", "id", "--yes").code == 0)
    #expect(
      try place.run("export", "F", "-o", "csv").out
        == "id,flag\r\n1,TRUE\r\n2,False\r\n")
  }

  @Test func typesAreThoseThatAllValuesHave() throws {
    let place = try empty()
    try place.write(Self.people, to: "people.csv")
    let dry = try place.run("import", "people.csv", "--new-model", "Person", "-n")
    #expect(
      types(dry) == [
        "id integer", "zip text", "born date YYYY-MM-DD", "joined date YYYY-MM-DDTHH:MM:SSZ",
        "active boolean", "pay decimal", "score real", "count integer", "phone text", "name text",
        "mixed text", "none text", "long text",
      ], "\(dry)")
    #expect(dry.err.hasSuffix("dry run: nothing was written\n"), "\(dry)")
    #expect(try place.run("models", "Person").code == 3)

    let made = try place.run("import", "people.csv", "--new-model", "Person", "--yes")
    #expect(made.code == 0, "\(made)")
    #expect(
      made.err.contains("Person: 13 fields, from 2 records; the key id is generated\n"), "\(made)")
    #expect(
      try place.run("export", "Person", "-o", "csv").out.replacing("\r\n", with: "\n")
        == "id,"
        + Self.people.replacing("\n0", with: "\n1,0").replacing("\n10", with: "\n2,10")
        .replacing("12.50", with: "12.5").replacing("3.00", with: "3").replacing(
          "\"2\"", with: "2") + "\n")
    // It is a model like any other.
    for words in [
      ["update", "Person", "1", "born=2001-01-01"], ["delete", "Person", "2"],
      ["rules", "add", "Person", "--length", "name=1..9", "--name", "short"],
      ["journal", "on"], ["validate"], ["doctor"], ["hash", "Person"],
      ["query", "Person", "born > '2000-01-01' and active = true"],
    ] {
      let outcome = try place.run(words)
      #expect(outcome.code == 0, "\(words) \(outcome)")
    }
    #expect(try place.run("update", "Person", "1", "born=soon").code == 4)
  }

  @Test func theKeyMayBeAField() throws {
    let place = try empty()
    let outcome = try place.run(
      "import", "-", "--new-model", "Zip", "--key", "zip", "--yes",
      input: "zip,town\n00601,Adjuntas\n10115,Berlin\n")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try place.run("get", "Zip", "00601").out == "00601\tAdjuntas\n")
    let number = try place.run(
      "import", "-", "--new-model", "Numbered", "--key", "id", "--yes", input: "id,n\n7,a\n")
    #expect(number.code == 0, "\(number)")
    #expect(try place.run("insert", "Numbered", "n=b").code == 0)
    #expect(try place.run("get", "Numbered", "8").out == "8\tb\n")
    let pair = try place.run(
      "import", "-", "--new-model", "Pair", "--key", "a,b", "--yes", input: "a,b,n\n1,x,2\n1,y,3\n")
    #expect(pair.code == 0, "\(pair)")
    #expect(try place.run("get", "Pair", "1,y").out == "1\ty\t3\n")
  }

  @Test func aDuplicateKeyLeavesNoTable() throws {
    let place = try empty()
    let before = try RawDatabase(place.path("new.db")).value(
      "SELECT count(*) FROM sqlite_schema")
    let outcome = try place.run(
      "import", "-", "--new-model", "Zip", "--key", "zip", "--yes", input: "zip\n1\n1\n")
    #expect(outcome.code == 4, "\(outcome)")
    #expect(try place.run("models", "Zip").code == 3)
    #expect(
      try RawDatabase(place.path("new.db")).value("SELECT count(*) FROM sqlite_schema") == before)
  }

  @Test(
    arguments: [
      ("id,n\n1,a\n", [], "add --key id, or --map id=NAME"),
      ("a,A\n1,2\n", [], "add --map A=NAME"),
      ("a,b\n1,\n", ["--key", "b"], "b cannot be the key: 1 record of the input has no value"),
      ("a,b\n1,2\n", ["--key", "c"], "The input has no field c"),
      ("a,b\n1\n", [], "expected 2 columns, got 1"),
      ("", [], "The input has no fields"),
    ] as [(String, [String], String)])
  func whatCannotBecomeAModelIsRefused(input: String, words: [String], reason: String) throws {
    let place = try empty()
    let outcome = try place.run(
      ["import", "-", "--new-model", "New", "--yes", "--format", "csv"] + words, input: input)
    #expect(outcome.code != 0)
    #expect(outcome.err.contains(reason), "\(outcome)")
    #expect(try place.run("models", "New").code == 3)
  }

  @Test func takenNamesAndMissingConsentAreRefused() throws {
    let place = try empty()
    for name in ["Old", "old", "_ms_x", "sqlite_x"] {
      let outcome = try place.run("import", "-", "--new-model", name, "--yes", input: "a\n1\n")
      #expect(outcome.code == 64, "\(name) \(outcome)")
    }
    let outcome = try place.run("import", "-", "--new-model", "New", input: "a\n1\n")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("add --yes, or -n"), "\(outcome)")
    #expect(try place.run("models", "New").code == 3)
  }

  @Test(arguments: ["ndjson", "json"])
  func jsonKeepsItsOwnTypes(format: String) throws {
    let place = try empty()
    let records = [
      #"{"i":1,"r":1.5,"b":true,"t":"007","d":"2020-01-02","o":{"a":[1]},"m":1,"big":12345678901234}"#,
      #"{"i":2,"r":2,"b":false,"t":"8","d":"2020-01-03","o":[2],"m":"x","late":"é"}"#,
    ]
    let input =
      format == "json"
      ? "[" + records.joined(separator: ",\n") + "]"
      : records.joined(separator: "\n")
    let outcome = try place.run("import", "-", "--new-model", "J", "--yes", input: input)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      types(outcome) == [
        "id integer", "i integer", "r real", "b boolean", "t text", "d date YYYY-MM-DD", "o json",
        "m any", "big integer", "late text",
      ], "\(outcome)")
    #expect(
      try place.run("query", "J", "--ndjson", "--fields", "i,r,b,t,d,m,big,late").out == """
        {"i":1,"r":1.5,"b":true,"t":"007","d":"2020-01-02","m":1,"big":12345678901234,"late":null}
        {"i":2,"r":2.0,"b":false,"t":"8","d":"2020-01-03","m":"x","big":null,"late":"é"}

        """)
  }

  @Test func tabSeparatedCellsHaveNoQuotes() throws {
    let place = try empty()
    let outcome = try place.run(
      "import", "-", "--new-model", "T", "--format", "tsv", "--yes",
      input: "a\tb\tc\n1\t\\N\t\"x\"\n2\tt\\n\t\n")
    #expect(types(outcome) == ["id integer", "a integer", "b text", "c text"], "\(outcome)")
    #expect(
      try place.run("query", "T", "--ndjson").out
        == #"""
        {"id":1,"a":1,"b":null,"c":"\"x\""}
        {"id":2,"a":2,"b":"t\n","c":""}

        """#
    )
  }

  @Test func aSampleDecidesTheTypes() throws {
    let place = try empty()
    let input = "a\n1\n2\nthree\n"
    let outcome = try place.run(
      "import", "-", "--new-model", "S", "--sample", "2", "--yes", input: input)
    #expect(types(outcome) == ["id integer", "a integer"])
    #expect(outcome.code == 4, "\(outcome)")
    let lenient = try place.run(
      "import", "-", "--new-model", "S", "--sample", "2", "--yes", "--on-error", "skip",
      input: input)
    #expect(lenient.code == 4)
    #expect(try place.run("query", "S", "--fields", "a").out == "1\n2\n", "\(lenient)")
  }

  /// Whatever a CSV holds, an export of the model made of it has the same cells, except that a
  /// decimal loses zeros at its end.
  @Test(arguments: 0..<20)
  func noValueIsConverted(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let kinds: [[String]] = [
      ["0", "1", "-5", "123456789012345"], ["1.5", "-0.25", "100.125"], ["007", "7"],
      ["2020-01-02", "1999-12-31"], ["2020-01-02 03:04:05", "2021-12-31 23:59:59"],
      ["true", "false"],
      ["a", "b c", ""], ["1e5", "2"], ["1234567890123456", "1"], ["2020-02-30", "2020-02-01"],
      ["inf", "nan", "1"], ["0x10", "1"], ["+1", "1"], ["1.0", "2.0"], ["-0", "0"],
      ["TRUEish", "true"],
    ]
    let columns = (0..<6).map { _ in kinds.randomElement(using: &random) ?? [] }
    let rows = (0..<Int.random(in: 1..<30, using: &random)).map { _ in
      columns.map { $0.randomElement(using: &random) ?? "" }
    }
    let header = columns.indices.map { "c\($0)" }.joined(separator: ",")
    let lines = rows.map { $0.joined(separator: ",") }
    let place = try empty()
    let outcome = try place.run(
      "import", "-", "--new-model", "R", "--yes",
      input: ([header] + lines).joined(separator: "\n") + "\n")
    #expect(outcome.code == 0, "\(outcome)")
    let exported = try place.run("export", "R", "-o", "csv", "--fields", "c0,c1,c2,c3,c4,c5").out
    #expect(exported.split(separator: "\r\n").dropFirst().map(String.init) == lines)
  }
}
