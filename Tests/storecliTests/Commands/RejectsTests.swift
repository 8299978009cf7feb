import Foundation
import Testing

/// Records that an import rejects can be corrected and imported again.
@Suite(.tags(.process)) struct RejectsTests {
  private let csv = ["import", "in.csv", "--model", "Artist", "--on-error", "collect"]

  @Test func rejectsOfCommittedBatchesStayWhenALaterErrorStops() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      "id,name,founded\n100,A,1960\n101,B,soon\n102,C,1960\n103,D,soon\n104,E,soon\n\"never closed\n",
      to: "in.csv")
    let outcome = try place.run(csv + ["--batch", "2"])
    #expect(
      Outcome(code: outcome.code, out: outcome.out, err: outcome.err.withoutResumption)
        == Outcome(
          code: 4, out: "",
          err: """
            error[input]: in.csv: line 7, column 1 (byte 71): this quote is never closed
              2 records of 2 earlier batches stay written
              2 rejected: in.rejects.csv

            """))
    let reason = "founded takes a whole number within 64 bits; got “soon”."
    #expect(
      try place.contents(of: "in.rejects.csv") == """
        $line,$reason,id,name,founded
        3,\(reason),101,B,soon
        5,\(reason),103,D,soon

        """)
  }

  @Test func rejectsAreWrittenVerbatim() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id;\"name\";founded\n100;A;soon  \n", to: "in.csv")
    #expect(try place.run(csv + ["--delimiter", ";"]).code == 4)
    #expect(
      try place.contents(of: "in.rejects.csv") == """
        $line;$reason;id;"name";founded
        2;"founded takes a whole number within 64 bits; got “soon  ”.";100;A;soon \u{20}

        """)
  }

  @Test func aQuoteWithinACellRejectsOnlyItsRecord() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id,name,founded\n100,A,1960\n101,B\"C,1960\n102,D,1960\n", to: "in.csv")
    let outcome = try place.run(csv)
    #expect(outcome.code == 4 && outcome.err.hasPrefix("3 read  2 inserted  1 rejected"))
    #expect(try place.contents(of: "in.rejects.csv").hasSuffix(",101,B\"C,1960\n"))
    #expect(try place.run("get", "Artist", "102", "--fields", "name").out == "D\n")
  }

  @Test func aDryRunLeavesTheRejectsFileUnchanged() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id,name,founded\n100,A,soon\n", to: "in.csv")
    try place.write("mine", to: "in.rejects.csv")
    let outcome = try place.run(csv + ["-n"])
    #expect(
      outcome.code == 4 && outcome.err.hasSuffix("dry run: nothing was written\n"), "\(outcome)")
    #expect(try place.contents(of: "in.rejects.csv") == "mine")
  }

  @Test func unknownAndDuplicateNamesInJSONAreRejects() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      """
      {"id":100,"name":"A","founded":1960}
      {"id":101,"nmae":"B","founded":1960}
      {"id":102,"name":"C","title":"D","founded":1960}

      """, to: "in.ndjson")
    let outcome = try place.run(
      "import", "in.ndjson", "--model", "Artist", "--on-error", "collect", "--map", "title=name")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.split(separator: "\n").dropFirst() == [
        "  line 2: The input names nmae, but Artist has no such field; did you mean name?",
        "  line 3: Two members of the object map to name.", "rejects: in.rejects.ndjson",
      ])
    #expect(
      try place.contents(of: "in.rejects.ndjson") == """
        {"$line":2,"$reason":"The input names nmae, but Artist has no such field; did you mean name?",\
        "id":101,"nmae":"B","founded":1960}
        {"$line":3,"$reason":"Two members of the object map to name.",\
        "id":102,"name":"C","title":"D","founded":1960}

        """)
  }

  /// A second import ignores the reasons, and writes new ones.
  @Test(arguments: ["csv", "tsv", "ndjson", "json"])
  func correctedRejectsCanBeImported(format: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    let records = [
      ["id": "100", "name": "A, \"a\"", "founded": "1"],
      ["id": "101", "name": "B", "founded": "2"],
    ]
    let names = ["id", "name", "founded"]
    let text =
      switch format {
      case "csv": "id,name,founded\n100,\"A, \"\"a\"\"\",1\n101,B,2\n"
      case "tsv": "id\tname\tfounded\n100\tA, \"a\"\t1\n101\tB\t2\n"
      default:
        records.map { record in
          let members = names.map { name in
            let value = record[name] ?? ""
            return name == "name"
              ? "\"name\":\"\(value.replacing("\"", with: "\\\""))\"" : "\"\(name)\":\(value)"
          }
          return "{\(members.joined(separator: ","))}"
        }.joined(separator: format == "json" ? ",\n" : "\n")
      }
    try place.write(format == "json" ? "[\(text)]" : text, to: "in.\(format)")
    let ending = format == "json" ? "ndjson" : format
    let words = ["--model", "Artist", "--on-error", "collect"]
    var name = "in"
    for _ in 0..<2 {
      let outcome = try place.run(["import", "\(name).\(name == "in" ? format : ending)"] + words)
      #expect(
        outcome.code == 4 && outcome.err.hasPrefix("2 read  0 inserted  2 rejected"), "\(outcome)")
      name += ".rejects"
    }
    let rejects = try place.contents(of: "\(name).\(ending)")
    #expect(rejects.components(separatedBy: "$reason").count == (ending == "ndjson" ? 3 : 2))
    let corrected = rejects.replacing(/founded":\d/, with: "founded\":1990")
      .replacing(/[12]\n/, with: "1990\n")
    try place.write(corrected, to: "last.\(ending)")
    let outcome = try place.run(["import", "last.\(ending)", "--model", "Artist"])
    #expect(outcome.code == 0, "\(outcome) \(corrected)")
    #expect(
      try place.run("query", "Artist", "id >= 100", "--json", "--fields", "id,name,founded").out
        .contains(#"{"id":100,"name":"A, \"a\"","founded":1990}"#))
  }

  @Test func insertFromAFileNamesFileAndLine() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      "{\"id\":100,\"name\":\"A\",\"founded\":1960}\n{\"id\":1,\"name\":\"B\",\"founded\":1960}\n",
      to: "in.ndjson")
    #expect(
      try place.run("insert", "Artist", "--from", "in.ndjson").err
        == "error[rejected]: in.ndjson: line 2: id must be unique; another Artist has the same value.\n"
        + "hint: storecli models Artist\n")
    try place.write("{\"id\":100}\n{\"nmae\":1}\n", to: "in.ndjson")
    let outcome = try place.run("insert", "Artist", "--from", "in.ndjson")
    #expect(outcome.code == 4)
    #expect(
      outcome.err
        == "error[unknownField]: in.ndjson: "
        + "line 2: The input names nmae, but Artist has no such field; did you mean name?\n"
        + "hint: add --map nmae=FIELD or --ignore-extra\n")
  }
}
