import Foundation
import ModelStore
import Testing

/// What an import makes of the values of an input before it writes them.
@Suite(.tags(.process)) struct InputTransformTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE Item(
        id INTEGER PRIMARY KEY, name TEXT, price REAL, count INTEGER NOT NULL DEFAULT 1,
        sold BOOLEAN, more JSON);
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt", "-q", "--type", "Item.sold=bool").code == 0)
    return place
  }

  private func items(_ place: Workplace) throws -> String {
    try place.run("query", "Item", "--all", "--ndjson").out
  }

  @Test func expressionsUseTheNamesOfTheInput() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--set", "name=upper(trim(first)) || ' ' || last", "--set",
      "price=replace(price, ',', '.')", "--set", "sold=count > 9", "--set", "more=null",
      input: "id,first,last,price,count\n1, ann ,Lee,\"1,5\",10\n2,bo,,2,9\n")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      try items(place) == """
        {"id":1,"name":"ANN Lee","price":1.5,"count":10,"sold":true,"more":null}
        {"id":2,"name":null,"price":2.0,"count":9,"sold":false,"more":null}

        """)
  }

  @Test func expressionsUseTheMembersOfJSON() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--set", "price=cents / 100.0", "--set",
      "count=coalesce(count, 0) + 1",
      input: "{\"id\":1,\"cents\":250,\"count\":4}\n{\"id\":2,\"cents\":5}\n")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      try place.run("query", "Item", "--ndjson", "--fields", "id,price,count").out == """
        {"id":1,"price":2.5,"count":5}
        {"id":2,"price":0.05,"count":1}

        """)
  }

  @Test(arguments: [
    ("name=nme", "no such column: nme"), ("name=(select 1)", "has a subquery"),
    ("name=1; drop table Item", "holds a semicolon"), ("name=(1", "leaves a parenthesis open"),
    ("name=lower(", "leaves a parenthesis open"), ("name=nofunction(id)", "no such function"),
    ("nme=1", "did you mean name?"), ("count='x'", "count takes a whole number"),
    ("name=", "is empty"), ("name=(SELECT name FROM sqlite_schema)", "has a subquery"),
  ])
  func expressionsThatAreRefusedWriteNothing(word: String, reason: String) throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--set", word, input: "id,name\n1,a\n")
    #expect(outcome.code != 0)
    #expect(outcome.err.contains(reason), "\(outcome)")
    #expect(try items(place) == "")
  }

  @Test func aPredicateSelectsRecords() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--where", "price >= 2 and name is not null", "--map",
      "title=name", input: "id,title,price\n1,a,10\n2,b,1.5\n3,,9\n4,d,2\n")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.err.hasPrefix("4 read  2 inserted  2 skipped  0 rejected  in "), "\(outcome)")
    #expect(try place.run("query", "Item", "--fields", "id").out == "1\n4\n")
    let wrong = try place.run(
      "import", "-", "--model", "Item", "--where", "prize > 1", input: "id\n1\n")
    #expect(wrong.code == 64)
    #expect(wrong.err.contains("did you mean price?"), "\(wrong)")
  }

  @Test func emptyCellsMayMeanNull() throws {
    let place = try shop()
    for (format, input) in [
      ("csv", "id,name,count\n1,\"\",3\n2,,3\n3,x,\"\"\n"),
      ("tsv", "id\tname\tcount\n1\t\t3\n2\t\\N\t3\n3\tx\t\n"),
    ] {
      let outcome = try place.run(
        "import", "-", "--model", "Item", "--upsert", "--format", format, "--empty-null",
        "--on-error", "skip", input: input)
      #expect(outcome.code == 0, "\(format) \(outcome)")
      #expect(
        try place.run("query", "Item", "--ndjson", "--fields", "id,name,count").out == """
          {"id":1,"name":null,"count":3}
          {"id":2,"name":null,"count":3}
          {"id":3,"name":"x","count":1}

          """, "\(format)")
    }
    let json = try place.run(
      "import", "-", "--model", "Item", "--empty-null", input: "{\"id\":9}\n")
    #expect(json.code == 64, "\(json)")
  }

  @Test func unknownNamesMayGoIntoOneField() throws {
    let place = try shop()
    let csv = try place.run(
      "import", "-", "--model", "Item", "--rest", "more",
      input: "id,colour,name,size\n1,red,a,\n2,\"a \"\"b\"\"\",b,7\n")
    #expect(csv.code == 0, "\(csv)")
    let json = try place.run(
      "import", "-", "--model", "Item", "--rest", "more",
      input: "{\"id\":3,\"tags\":[1,{\"a\":null}],\"ok\":true}\n{\"id\":4}\n")
    #expect(json.code == 0, "\(json)")
    #expect(
      try place.run("query", "Item", "--ndjson", "--fields", "id,more").out == #"""
        {"id":1,"more":"{\"colour\":\"red\",\"size\":null}"}
        {"id":2,"more":"{\"colour\":\"a \\\"b\\\"\",\"size\":\"7\"}"}
        {"id":3,"more":"{\"tags\":[1,{\"a\":null}],\"ok\":true}"}
        {"id":4,"more":null}

        """#)
    let both = try place.run(
      "import", "-", "--model", "Item", "--rest", "more", input: "{\"id\":5,\"more\":{},\"x\":1}\n")
    #expect(both.code == 4, "\(both)")
    let number = try place.run(
      "import", "-", "--model", "Item", "--rest", "count", input: "id\n6\n")
    #expect(number.code == 64, "\(number)")
    let twice = try place.run(
      "import", "-", "--model", "Item", "--rest", "more", "--set", "more=1", input: "id,x\n7,1\n")
    #expect(twice.code == 64, "\(twice)")
  }

  @Test func oldEncodingsAreRead() throws {
    let place = try shop()
    let text: [UInt8] = Array("id,name\n1,caf".utf8) + [0xE9] + Array(" ".utf8)
    let cases: [(String, [UInt8], String)] = [
      ("latin1", text + [0x80, 0x0A], "caf\u{E9} \u{80}"),
      ("windows-1252", text + [0x80, 0x0A], "café €"),
      ("cp1252", text + [0x93, 0x0A], "café “"),
      (
        "utf-16le", Array("id,name\n1,é€\n".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
        "é€"
      ),
      (
        "utf-16be", Array("id,name\n1,é€\n".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
        "é€"
      ),
      (
        "utf-16",
        Array("\u{feff}id,name\n1,é€\n".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, "é€"
      ),
      ("utf-8", Array("id,name\n1,é€\n".utf8), "é€"),
    ]
    for (name, bytes, expected) in cases {
      try Data(bytes).write(to: place.url("in.csv"))
      let outcome = try place.run(
        "import", "in.csv", "--model", "Item", "--upsert", "--encoding", name)
      #expect(outcome.code == 0, "\(name) \(outcome)")
      let raw = try RawDatabase(place.path("shop.db"))
      #expect(try raw.value("SELECT name FROM Item WHERE id = 1") == expected, "\(name)")
    }
  }

  @Test func aByteWithoutAMeaningIsAnErrorWithItsPlace() throws {
    let place = try shop()
    try Data(Array("id,name\n1,caf".utf8) + [0x81, 0x0A]).write(to: place.url("in.csv"))
    let outcome = try place.run(
      "import", "in.csv", "--model", "Item", "--encoding", "windows-1252")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.hasPrefix(
        "error[input]: in.csv: byte 13: 0x81 means no character in windows-1252\n"), "\(outcome)")
    let mark = try place.run("import", "in.csv", "--model", "Item", "--encoding", "utf-16")
    #expect(mark.err.contains("name utf-16le or utf-16be"), "\(mark)")
    #expect(
      try place.run("import", "in.csv", "--model", "Item", "--encoding", "ebcdic").code == 64)
  }

  @Test func compressedFilesAreRead() throws {
    let place = try shop()
    try place.write("id,name\n1,a\n2,b\n", to: "Item.csv")
    let zip = Process()
    zip.executableURL = URL(fileURLWithPath: "/bin/gzip")
    zip.arguments = ["-k", place.path("Item.csv")]
    try zip.run()
    zip.waitUntilExit()
    try #require(zip.terminationStatus == 0)
    let outcome = try place.run("import", "Item.csv.gz")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try place.run("query", "Item", "--fields", "id,name").out == "1\ta\n2\tb\n")
    // Half a file is refused as a whole.
    try Data(contentsOf: place.url("Item.csv.gz")).dropLast(9).write(to: place.url("Half.csv.gz"))
    let half = try place.run("import", "Half.csv.gz", "--model", "Item", "--upsert")
    #expect(half.code == 4)
    #expect(half.err.contains("gzip ended with status 1, so the file is damaged"), "\(half)")
    let export = try place.run("export", "Item", "--to", "out.ndjson.gz")
    #expect(export.code == 64)
    #expect(export.err.contains("| gzip > out.ndjson.gz"), "\(export)")
  }
}
