#if Postgres
  import Foundation
  import ModelStore

  @testable import ModelStorePostgres

  /// A model with a field of each type.
  struct Sample: CodableModel, Hashable {
    var id: Int64
    var isOpen: Bool?
    var weight: Double?
    var title: String?
    var blob: Data?
    var at: Date?
    var token: UUID?
    var link: URL?
    var price: Decimal?
    var tags: JSON<[String]>?

    var key: Int64 { id }

    static let definition = ModelDefinition<Sample>(
      "Sample", key: \.id,
      fields: [
        .init("id", \.id), .init("isOpen", \.isOpen), .init("weight", \.weight),
        .init("title", \.title), .init("blob", \.blob), .init("at", \.at),
        .init("token", \.token), .init("link", \.link), .init("price", \.price),
        .init("tags", \.tags),
      ])
  }

  /// A model whose key is a text.
  struct Label: CodableModel, Hashable {
    var name: String
    var count: Int64

    var key: String { name }

    static let definition = ModelDefinition<Label>(
      "Label", key: \.name, fields: [.init("name", \.name), .init("count", \.count)])
  }

  /// A store with a mirror in a schema of its own.
  final class MirrorWorld {
    let server: PostgresServer
    let schema: String
    let path: String
    private let directory: String

    init(_ server: PostgresServer, _ schema: String) throws {
      self.server = server
      self.schema = schema
      directory =
        FileManager.default.temporaryDirectory
        .appendingPathComponent("mirror-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      path = directory + "/a.store"
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func open(_ models: any Model.Type..., migrations: [Migration] = []) throws -> Store {
      var configuration = StoreConfiguration()
      configuration.changeJournal = .full
      return try Store(
        at: path, models: models.isEmpty ? [Sample.self, Label.self] : models,
        migrations: migrations, configuration: configuration)
    }

    func mirror() throws -> PostgresMirror {
      try PostgresMirror(server.connection(), schema: schema)
    }

    /// The rows of a query in PostgreSQL, in which `@` stands for the schema and the dot.
    func rows(_ sql: String) throws -> [[String]] {
      let result = try server.execute(sql.replacing("@", with: "\"\(schema)\"."))
      let count = result.columnCount
      return (0..<result.rowCount).map { row in (0..<count).map { result.text(row, $0) } }
    }

    /// Runs a statement as a program that the guards let through.
    func tamper(_ sql: String) throws {
      let statement = sql.replacing("@", with: "\"\(schema)\".")
      try server.execute(
        "DO $$ BEGIN PERFORM set_config('modelstore.mirror', 'on', true); \(statement); END $$")
    }

    /// Waits until the mirror has these labels, for ten minutes.
    func wait(for labels: [Label]) throws {
      let end = ContinuousClock.now + .seconds(600)
      // The mirror may not exist yet.
      while (try? self.labels()) != labels {
        guard ContinuousClock.now < end else {
          throw PostgresServer.Failure("The mirror has \(try self.labels()).")
        }
      }
    }

    /// The labels of the mirror, in the order of names.
    func labels() throws -> [Label] {
      try rows(#"SELECT name, count::text FROM @"Label" ORDER BY name"#).map {
        Label(name: $0[0], count: Int64($0[1]) ?? -1)
      }
    }
  }

  /// The code of the error that `body` throws; nil if it throws none, or another error.
  func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }
#endif
