import Foundation
import ModelStore

extension ImportWorkload {
  var contenders: [Contender] {
    [
      storecli("storecli import", journal: nil),
      storecli("storecli import, change journal", journal: .full),
      Contender(library: .sqlite, name: "sqlite3 .import") { directory in
        let program = try InstalledProgram.sqlite3()
        guard format == .csv else {
          throw MissingPeer(message: "the sqlite3 shell imports no NDJSON.")
        }
        return try session(in: directory, journal: nil) { session, source in
          try session.run(
            program,
            InstalledProgram.shellArguments + [
              session.path, ".import --csv --skip 1 \"\(source)\" Song",
            ])
        }
      },
      Contender(library: .sqliteUtils, name: "sqlite-utils insert", runCountMax: 2) { directory in
        let program = try InstalledProgram.sqliteUtils()
        return try session(in: directory, journal: nil) { session, source in
          try session.run(
            program, ["insert", session.path, "Song", source, format == .csv ? "--csv" : "--nl"])
        }
      },
    ]
  }

  private func storecli(_ name: String, journal: JournalDetail?) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let program = try InstalledProgram.storecli()
      return try session(in: directory, journal: journal) { session, source in
        try session.run(
          program,
          ["import", source, "--model", "Song", "--format", format.rawValue, "-d", session.path])
      }
    }
  }

  /// - Parameter load: Imports the file at the path, and returns the nanoseconds.
  private func session(
    in directory: TemporaryDirectory, journal: JournalDetail?,
    load: @escaping (ProgramSession, String) throws -> UInt64
  ) throws -> Session {
    let source = try directory.fixture("songs-\(count).\(format.rawValue)") {
      try format.write(Song.generate(count), to: $0)
    }
    let empty = directory.file("empty.sqlite")
    var configuration = StoreConfiguration()
    configuration.changeJournal = journal
    try Store(at: empty, models: Song.self, configuration: configuration).close()
    let session = try ProgramSession(in: directory, database: directory.file("songs.sqlite"))
    try TemporaryDirectory.replace(session.path, by: empty)
    return Session(policy: try session.policy()) {
      try TemporaryDirectory.replace(session.path, by: empty)
      let elapsed = try load(session, source)
      return Measurement(
        .whole(nanoseconds: elapsed, operations: count), digest: try session.songDigest(),
        figures: [
          Measurement.Figure(name: "rows/s", value: Double(count) * 1e9 / Double(elapsed)),
          session.takePeak(),
        ])
    }
  }
}
