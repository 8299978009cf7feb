import Foundation
import ModelStore
import StoreCommand
import Testing

/// A model of an application, with a rule in Swift.
private struct Book: Model {
  var id: Int64
  var title: String

  static let definition = ModelDefinition<Book>(
    "Book", key: \.id, fields: [.init("id", \.id), .init("title", \.title)])

  var key: Int64 { id }

  init(id: Int64, title: String) {
    self.id = id
    self.title = title
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
  }

  static let noDrafts = Validator("Book.noDrafts", Book.self) { change, _ in
    guard let book = change.new, book.title.hasSuffix("(draft)") else { return .accept }
    return .reject("must not be a draft", \.title)
  }
}

/// A model as an earlier version of the application declared it.
private struct OlderShelf: Model {
  var id: Int64

  static let definition = ModelDefinition<OlderShelf>(
    "Shelf", key: \.id, fields: [.init("id", \.id)])

  var key: Int64 { id }

  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
  }
}

private struct Shelf: Model {
  var id: Int64
  var note: String?

  static let definition = ModelDefinition<Shelf>(
    "Shelf", key: \.id, fields: [.init("id", \.id), .init("note", \.note)])

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    note = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try note.encode(to: &arguments, at: 1)
  }
}

/// Runs the application's command line and ends the process.
private func runBookshelf(_ words: String..., database: String) -> Never {
  Program(
    name: "bookshelf", arguments: words, database: database, models: Book.self,
    validators: [Book.noDrafts]
  ).runToExit()
}

/// As ``runBookshelf(_:database:)``, for a version of the application with a migration more, which
/// passes its models as an array.
private func runLaterBookshelf(_ words: String..., database: String) -> Never {
  let models: [any Model.Type] = [Book.self]
  Program(
    name: "bookshelf", arguments: words, database: database, models: models,
    migrations: [
      Migration(version: 1, name: "shout", sql: "UPDATE Book SET title = upper(title)")
    ],
    validators: [Book.noDrafts]
  ).runToExit()
}

@Suite(.tags(.process), .ownThreads) struct OwnCommandLineTests {
  /// The titles that the file at `path` holds.
  private func titles(at path: String) throws -> [String] {
    let store = try Store(at: path, models: Book.self)
    return try store.read { reads in try reads.fetch(Book.all.order { $0.id }).map(\.title) }
  }

  private func makeEmma(at path: String) throws {
    let store = try Store(at: path, models: Book.self, validators: [Book.noDrafts])
    try store.write { tx in try tx.insert(Book(id: 1, title: "Emma")) }
    store.close()
  }

  private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

  @Test func theApplicationsValidatorRefusesWhatItsCommandLineInserts() async throws {
    let place = try Workplace()
    let path = place.path("books.store")
    try await Store(at: path, models: Book.self, validators: [Book.noDrafts]).close()
    let refused = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      runBookshelf("insert", "Book", "id=1", "title=Emma (draft)", database: path)
    }
    let message = text(refused?.standardErrorContent)
    #expect(message.contains("must not be a draft"))
    #expect(!message.contains("storecli "))
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      runBookshelf("insert", "Book", "id=2", "title=Emma", database: path)
    }
    #expect(try titles(at: place.path("books.store")) == ["Emma"])
  }

  @Test(arguments: ["doctor", "doctor --ready"])
  func doctorAsksTheLedgerOfTheApplication(_ command: String) async throws {
    let place = try Workplace()
    let path = place.path("books.store")
    let outcome = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) { [path = path as String, command = command as String] in
      var configuration = StoreConfiguration()
      configuration.ledger = MemoryLedger(durability: .none).shared(as: "books")
      let store = try Store(at: path, models: Book.self, configuration: configuration)
      try store.write { tx in try tx.insert(Book(id: 1, title: "Emma")) }
      store.close()
      Program(
        name: "bookshelf", arguments: command.split(separator: " ").map(String.init) + ["-q"],
        database: path, models: [Book.self], configuration: configuration
      ).runToExit()
    }
    let lines = text(outcome?.standardOutputContent).split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("member\t") && !$0.contains(" had ") } == [
        "member\tok\tof the shared store books, with commit 1",
        "member\tok\thas every commit",
        "member\twarning\tthe ledger may lose commits in a crash",
      ])
  }

  @Test func doctorWithoutTheLedgerSaysWhatTheFileSays() throws {
    let place = try Workplace()
    let path = place.path("books.store")
    var configuration = StoreConfiguration()
    configuration.ledger = MemoryLedger().shared(as: "books")
    let store = try Store(at: path, models: Book.self, configuration: configuration)
    try store.write { tx in _ = try tx.insert(Book(id: 1, title: "Emma")) }
    store.close()
    let outcome = try place.run("doctor", "-q", "-d", path)
    let lines = outcome.out.split(separator: "\n").filter { $0.hasPrefix("member\t") }
    #expect(
      lines == [
        "member\tok\tof the shared store books, with commit 1",
        "member\tnote\t\(path) is a member of the shared store books, so a program needs its ledger to write. Set StoreConfiguration.ledger, or STORECLI_LEDGER for storecli.",
      ])
    #expect(outcome.code == 0)
  }

  @Test func storecliStillRefusesAModelWhoseValidatorItDoesNotHave() throws {
    let place = try Workplace()
    let path = place.path("books.store")
    try Store(at: path, models: Book.self, validators: [Book.noDrafts]).close()
    let outcome = try place.run("insert", "Book", "id=1", "title=Emma", "-d", path)
    #expect(outcome.code == 4)
    #expect(outcome.err.hasPrefix("error[codeValidators]"))
    #expect(try titles(at: place.path("books.store")) == [])
  }

  @Test func aDryRunDoesNotAddDeclarationsAndAWriteDoes() async throws {
    let place = try Workplace()
    let path = place.path("books.store")
    try await Store(at: path, models: Book.self).close()
    func declared() throws -> [String] {
      try Store(at: place.path("books.store"), models: Book.self).declaredValidators().map(\.name)
    }
    let refused = await #expect(
      processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      runBookshelf("insert", "Book", "id=1", "title=Emma", "--dry-run", database: path)
    }
    let message = text(refused?.standardErrorContent)
    #expect(
      message.contains(
        "error[readOnly]: The store was opened read-only, and its file lacks some "
          + "declarations of this program."))
    #expect(try declared() == [])
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      runBookshelf("insert", "Book", "id=1", "title=Emma", database: path)
    }
    #expect(try declared() == ["Book.noDrafts"])
    await #expect(processExitsWith: .exitCode(4)) { [path = path as String] in
      runBookshelf("update", "Book", "1", "title=Emma (draft)", "--dry-run", database: path)
    }
    #expect(try titles(at: place.path("books.store")) == ["Emma"])
  }

  /// Opening for the dry run put the trigger back.
  @Test func aDryRunRepairsNothing() async throws {
    let place = try Workplace()
    let path = place.path("books.store")
    try makeEmma(at: path)
    try #require(
      try place.run("rules", "add", "Book", "--check", "length(title) > 2", "-d", path).code
        == 0)
    let raw = try RawDatabase(path)
    func triggerCount() throws -> String {
      try raw.value("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
    }
    let count = try triggerCount()
    try raw.execute(
      try raw.value(
        "SELECT group_concat('DROP TRIGGER \"' || name || '\"', ';') FROM sqlite_schema "
          + "WHERE type = 'trigger'"))
    let version = try raw.value("PRAGMA schema_version")
    let refused = await #expect(
      processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      runBookshelf("update", "Book", "1", "title=Persuasion", "-n", database: path)
    }
    let message = text(refused?.standardErrorContent)
    #expect(message.contains("this store may not change the file"), "\(message)")
    #expect(try triggerCount() == "0")
    #expect(try raw.value("PRAGMA schema_version") == version)
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      runBookshelf("update", "Book", "1", "title=Persuasion", database: path)
    }
    #expect(try triggerCount() == count)
  }

  @Test func aDryRunIsRefusedWhileAMigrationWaits() async throws {
    let place = try Workplace()
    let path = place.path("books.store")
    try makeEmma(at: path)
    let refused = await #expect(
      processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      runLaterBookshelf("update", "Book", "1", "title=Persuasion", "-n", database: path)
    }
    let message = text(refused?.standardErrorContent)
    #expect(message.contains("has not been applied to the file"), "\(message)")
    #expect(try titles(at: place.path("books.store")) == ["Emma"])
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      runLaterBookshelf("insert", "Book", "id=2", "title=Sanditon", database: path)
    }
    let stored = try RawDatabase(path).value("SELECT group_concat(title) FROM Book ORDER BY id")
    #expect(stored == "EMMA,Sanditon")
  }

  /// A database of another program, named by mistake.
  @Test func anUnknownModelIsRefusedBeforeDeclarationsAreAdded() async throws {
    let place = try Workplace()
    let path = place.path("other.db")
    try RawDatabase(path).execute("CREATE TABLE other(id INTEGER PRIMARY KEY)")
    let before = try Data(contentsOf: place.url("other.db"))
    let refused = await #expect(
      processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      runBookshelf("delete", "Boo", "1", "--yes", "-d", path, database: "books.store")
    }
    let message = text(refused?.standardErrorContent)
    #expect(message.contains("error[unknownModel]: There is no model Boo"))
    #expect(message.contains("Book"))
    #expect(try Data(contentsOf: place.url("other.db")) == before)
  }

  /// The file has the model without the field that the application has added to it since.
  @Test func aConsumerFollowsTheModelAsTheApplicationDeclaresIt() async throws {
    let place = try Workplace()
    let path = place.path("shelves.store")
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    try await Store(at: path, models: OlderShelf.self, configuration: configuration).close()
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      var configuration = StoreConfiguration()
      configuration.changeJournal = .full
      configuration.schemaChanges = .additive
      Program(
        name: "bookshelf",
        arguments: ["watch", "Shelf", "--consumer", "s", "--fields", "note", "--timeout", "0s"],
        database: path, models: Shelf.self, configuration: configuration
      ).runToExit()
    }
    let columns = try RawDatabase(path).value(
      "SELECT group_concat(name) FROM pragma_table_info('Shelf')")
    #expect(columns == "id,note")
  }

  @Test func helpNamesTheApplication() async throws {
    let help = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      runBookshelf("insert", "--help", database: "books.store")
    }
    let shown = text(help?.standardOutputContent)
    #expect(shown.contains("Example: bookshelf insert Artist name='Nina Simone'"))
    #expect(!shown.contains("storecli "))
  }
}
