import Foundation
import ModelStore
import Synchronization
import Testing

@testable import StoreCommand

private struct Note: Model {
  var id: Int64
  var text: String

  static let definition = ModelDefinition<Note>(
    "Note", key: \.id, fields: [.init("id", \.id), .init("text", \.text)])

  var key: Int64 { id }

  init(id: Int64, text: String) {
    self.id = id
    self.text = text
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try text.encode(to: &arguments, at: 1)
  }

  static let noDrafts = Validator("Note.noDrafts", Note.self) { change, _ in
    guard let note = change.new, note.text.hasSuffix("(draft)") else { return .accept }
    return .reject("must not be a draft", \.text)
  }
}

/// Validators in Swift judge what a session writes.
@Suite(.tags(.process)) struct SessionValidatorTests {
  private let place: Workplace
  private let path: String

  init() throws {
    place = try Workplace()
    path = place.path("notes.store")
    let store = try Store(at: path, models: Note.self, validators: [Note.noDrafts])
    try store.write { try $0.insert(Note(id: 1, text: "one")) }
    store.close()
  }

  /// Runs a script in the application's own session.
  private func own(_ script: String, _ words: String...) -> Outcome {
    let written = Mutex<(data: [UInt8], talk: [UInt8])>(([], []))
    let surroundings = Surroundings(
      environment: ["HOME": place.directory], input: Array(script.utf8)
    ) { bytes, output in
      written.withLock { written in
        switch output {
        case .data: written.data += bytes
        case .talk: written.talk += bytes
        }
      }
    }
    let code = Program(
      name: "notes", arguments: ["shell"] + words, database: path, models: Note.self,
      validators: [Note.noDrafts]
    ).run(in: surroundings)
    let (data, talk) = written.withLock { $0 }
    return Outcome(
      code: code, out: String(decoding: data, as: UTF8.self),
      err: String(decoding: talk, as: UTF8.self))
  }

  @Test func commitRefusesAndTheTransactionStaysOpen() throws {
    let outcome = own(
      """
      begin
      UPDATE Note SET text = 'x (draft)' WHERE id = 1;
      insert Note text=two
      commit
      update Note 1 text=fine
      commit
      query Note
      """, "--keep-going")
    #expect(
      outcome.out == """
        ~ Note 1  text: "one" -> "x (draft)"
        + Note 2  text: "two"
        ~ Note 1  text: "x (draft)" -> "fine"
        1\tfine
        2\ttwo

        """, "\(outcome)")
    #expect(outcome.err.contains("must not be a draft"))
    #expect(outcome.err.contains("the transaction is still open: correct it, or rollback"))
    #expect(outcome.err.contains("committed: 1 Note updated; 1 Note inserted"), "\(outcome.err)")
    #expect(outcome.code == 4)
  }

  @Test func aStatementOutsideATransactionIsJudgedAtOnce() throws {
    let outcome = own("UPDATE Note SET text = 'x (draft)' WHERE id = 1;")
    #expect(outcome.code == 4 && outcome.out == "", "\(outcome)")
  }

  /// The generic program cannot run the validator, also not for SQL.
  @Test func aProgramWithoutTheValidatorIsRefused() throws {
    let script = """
      UPDATE Note SET text = 'y' WHERE id = 1;
      update Note 1 text=z
      begin
      UPDATE Note SET text = 'y' WHERE id = 1;
      commit
      update Note 1 text=w --skip-code-validators
      """
    let outcome = try place.run("shell", "-d", path, "--keep-going", input: script)
    #expect(outcome.err.components(separatedBy: "error[codeValidators]").count == 4, "\(outcome)")
    #expect(outcome.err.contains("committed; no record changed"))
    #expect(outcome.out == "~ Note 1  text: \"one\" -> \"w\"\n")
  }
}
