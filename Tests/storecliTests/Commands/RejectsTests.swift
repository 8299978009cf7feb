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
      outcome
        == Outcome(
          code: 4, out: "",
          err: """
            error[input]: in.csv: line 7, column 1 (byte 71): this quote is never closed
              2 records of 2 earlier batches stay written
              2 rejected: in.rejects.csv

            """))
    #expect(try place.contents(of: "in.rejects.csv") == "id,name,founded\n101,B,soon\n103,D,soon\n")
  }

  @Test func rejectsAreWrittenVerbatim() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id;\"name\";founded\n100;A;soon  \n", to: "in.csv")
    #expect(try place.run(csv + ["--delimiter", ";"]).code == 4)
    #expect(try place.contents(of: "in.rejects.csv") == "id;\"name\";founded\n100;A;soon  \n")
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
    #expect(try place.contents(of: "in.rejects.ndjson").split(separator: "\n").count == 2)
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
