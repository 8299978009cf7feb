import Foundation
import ModelStore

extension CommandWorkload {
  var contenders: [Contender] {
    switch command {
    case .get, .update:
      [
        contender(.modelStore, "storecli \(command.rawValue)", InstalledProgram.storecli) {
          storecliArguments($0, $1)
        },
        contender(.sqlite, "sqlite3", InstalledProgram.sqlite3) { path, value in
          InstalledProgram.shellArguments + ["-json", path, sql(value)]
        },
        contender(.sqliteUtils, "sqlite-utils", InstalledProgram.sqliteUtils) { path, value in
          ["query", path, sql(value)]
        },
      ]
    case .completion:
      [completion]
    }
  }

  /// The maximum nanoseconds of one run once it has enough samples.
  private static let budget: UInt64 = 2_000_000_000

  /// The key of the record that the commands show and change.
  private var key: Int { count / 2 + 1 }

  private func storecliArguments(_ path: String, _ value: Int) -> [String] {
    command == .get
      ? ["get", "Song", "\(key)", "--json", "-d", path]
      : ["update", "Song", "\(key)", "milliseconds=\(value)", "-d", path]
  }

  private func sql(_ value: Int) -> String {
    command == .get
      ? "SELECT * FROM Song WHERE id = \(key)"
      : "UPDATE Song SET milliseconds = \(value) WHERE id = \(key)"
  }

  private func contender(
    _ library: Contender.Library, _ name: String,
    _ program: @escaping () throws -> InstalledProgram,
    arguments: @escaping (_ path: String, _ value: Int) -> [String]
  ) -> Contender {
    Contender(library: library, name: name) { directory in
      let program = try program()
      let session = try ProgramSession(in: directory, database: try database(in: directory))
      let title = Song.generate(count)[key - 1].title
      var run = 0
      return Session(policy: try session.policy()) {
        // The same values for every contender, and another one each time.
        run += 1
        let timing = try Stopwatch.collect(limit: runCount, budget: Self.budget) { index in
          let elapsed = try session.run(program, arguments(session.path, run * runCount + index))
          if command == .get, try !session.lastOutput().contains(title) {
            throw BenchmarkFailure("\(name) does not show the record.")
          }
          return elapsed
        }
        return Measurement(timing, digest: try endDigest(session), figures: [session.takePeak()])
      }
    }
  }

  /// The stored records after a run, which no command but `update` changes.
  ///
  /// The number that an update stored last depends on how many fitted into the time, so that it is
  /// set to the same before it is compared.
  private func endDigest(_ session: ProgramSession) throws -> Int64 {
    if command == .update {
      let connection = try RawConnection.opened(asFound: session.path)
      try connection.execute(
        "UPDATE Song SET milliseconds = milliseconds > 0 WHERE id = \(key)")
    }
    return try session.songDigest()
  }

  /// A file with the songs, and further models without records.
  private func database(in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "songs-\(count)-\(modelCount)") { path in
      let models: [any Model.Type] = [Song.self] + NumberedItems.types(modelCount - 1)
      let store = try Store(at: path, models: models)
      let songs = Song.generate(count)
      try store.write { tx in
        for song in songs { try tx.insert(song) }
      }
      try store.checkpoint()
      store.close()
    }
  }

  /// What a user waits for after the tabulator key.
  private var completion: Contender {
    Contender(library: .modelStore, name: "storecli, the script's function") { directory in
      // Before a large file is made for nothing.
      let small = CommandWorkload(command: command, modelCount: modelCount, count: 100)
      guard try small.completionSession(in: directory.subdirectory("small")).offersKey() else {
        throw MissingPeer(message: "storecli completes no keys of records.")
      }
      let session = try completionSession(in: directory)
      guard try session.offersKey() else {
        throw BenchmarkFailure("storecli does not complete the key in the large file.")
      }
      return Session(policy: try session.programs.policy()) {
        Measurement(
          try Stopwatch.collect(limit: runCount, budget: Self.budget) { _ in
            try session.complete().nanoseconds
          })
      }
    }
  }

  private func completionSession(in directory: TemporaryDirectory) throws -> CompletionSession {
    try CompletionSession(
      try ProgramSession(in: directory, database: try database(in: directory)), key: "\(key)",
      script: directory.file("script.bash"))
  }
}

/// The completion of a record's key: the function of the script that `storecli completions bash`
/// prints, in a shell that runs already.
private struct CompletionSession {
  let programs: ProgramSession
  private let bash: InstalledProgram
  private let script: String
  private let key: String

  /// - Parameter script: The path at which the script is made.
  init(_ programs: ProgramSession, key: String, script: String) throws {
    self.programs = programs
    self.key = key
    self.script = script
    bash = try InstalledProgram.bash()
    let storecli = try InstalledProgram.storecli()
    try programs.run(storecli, ["completions", "bash"])
    let folder = URL(filePath: storecli.path).deletingLastPathComponent().path
    let beginning = String(key.dropLast())
    let text = """
      PATH="\(folder):$PATH"
      export STORECLI_DB="\(programs.path)"
      \(try programs.lastOutput())
      COMP_WORDS=(storecli get Song "\(beginning)")
      COMP_CWORD=3
      COMP_LINE="${COMP_WORDS[*]}"
      COMP_POINT=${#COMP_LINE}
      COMP_TYPE=9
      COMP_KEY=9
      name=$(complete -p storecli | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      start=$EPOCHREALTIME
      "$name" storecli "\(beginning)" Song
      end=$EPOCHREALTIME
      echo $(( ${end/./} - ${start/./} ))
      printf '%s\\n' "${COMPREPLY[@]}"
      exit 0
      """
    try text.write(toFile: script, atomically: true, encoding: .utf8)
  }

  /// Completes the key without its last digit.
  ///
  /// - Returns: The time of the function alone, and what it offers.
  func complete() throws -> (nanoseconds: UInt64, offered: [Substring]) {
    try programs.run(bash, [script])
    let lines = try programs.lastOutput().split(separator: "\n")
    guard let microseconds = lines.first.flatMap({ UInt64($0) }) else {
      throw BenchmarkFailure("bash does not say how long the completion took.")
    }
    return (microseconds * 1000, Array(lines.dropFirst()))
  }

  func offersKey() throws -> Bool {
    try complete().offered.contains { $0.hasPrefix(key) }
  }
}
