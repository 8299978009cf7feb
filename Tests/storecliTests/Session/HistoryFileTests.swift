import Dispatch
import Foundation
import Testing

@testable import StoreCommand

/// The file of earlier inputs.
@Suite(.tags(.process)) struct HistoryFileTests {
  @Test func inputsComeBackAsTheyWere() throws {
    let place = try Workplace()
    let file = HistoryFile(path: place.path("state/storecli/history"))
    #expect(try file.entries() == [])
    let inputs = ["models", "SELECT 1\nFROM t;", "a \\n b\\", "漢字 👍"]
    for input in inputs { try file.add(input) }
    #expect(try file.entries() == inputs)
  }

  @Test func onlyTheOwnerReadsIt() throws {
    let place = try Workplace()
    let file = HistoryFile(path: place.path("state/history"))
    try file.add("one")
    func mode(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: place.path(name))[.posixPermissions] as? Int
    }
    #expect(try mode("state/history") == 0o600)
    #expect(try mode("state") == 0o700)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: place.path("state/history"))
    try file.add("two")
    #expect(try mode("state/history") == 0o600)
    // Another program left a file where the shortened one is written.
    let short = HistoryFile(path: place.path("state/history"), countMax: 1)
    try place.write("left", to: "state/history.new")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: place.path("state/history.new"))
    #expect(try short.entries() == ["two"])
    #expect(try place.contents(of: "state/history") == "two\n")
    #expect(try mode("state/history") == 0o600)
  }

  @Test func itIsBounded() throws {
    let place = try Workplace()
    let file = HistoryFile(path: place.path("history"), countMax: 10)
    for number in 1...15 { try file.add("\(number)") }
    #expect(try file.entries() == (6...15).map(String.init))
    #expect(try place.contents(of: "history").split(separator: "\n").count == 15)
    try file.add("16")
    #expect(try file.entries() == (7...16).map(String.init))
    #expect(try place.contents(of: "history").split(separator: "\n").count == 10)
  }

  @Test func aLinkIsNotFollowed() throws {
    let place = try Workplace()
    try place.write("precious", to: "other")
    try FileManager.default.createSymbolicLink(
      atPath: place.path("history"), withDestinationPath: place.path("other"))
    let file = HistoryFile(path: place.path("history"))
    #expect(throws: (any Error).self) { try file.add("x") }
    #expect(try place.contents(of: "other") == "precious")
  }

  /// Each opens the file itself, as separate processes do, while others shorten it.
  @Test func sessionsThatAddAtOnceLoseNothing() throws {
    let place = try Workplace()
    let path = place.path("history")
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      for number in 1...100 {
        do {
          let file = HistoryFile(path: path, countMax: 500)
          try file.add("\(writer)-\(number)")
          if number.isMultiple(of: 10) { _ = try HistoryFile(path: path, countMax: 300).entries() }
        } catch {
          Issue.record(error)
        }
      }
    }
    let entries = try HistoryFile(path: path, countMax: 500).entries()
    // It was shortened at most to 300, and then the rest was added.
    #expect(entries.count >= 300 && Set(entries).count == entries.count)
    for writer in 0..<4 {
      let own = entries.filter { $0.hasPrefix("\(writer)-") }
      #expect(own.last == "\(writer)-100")
      let numbers = own.compactMap { Int($0.dropFirst(2)) }
      #expect(numbers == numbers.sorted())
    }
  }
}
