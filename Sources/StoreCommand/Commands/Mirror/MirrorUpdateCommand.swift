import ArgumentParser
import ModelStore

/// `mirror update`: brings a mirror up to the newest state.
struct MirrorUpdateCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Create a mirror, or write what changed since.",
    discussion: """
      Examples: STORECLI_MIRROR=postgresql://app@db/reports storecli mirror update
      storecli mirror update Track Album --follow
      Each model becomes a table in PostgreSQL, and each field a column. Readers there see one \
      state of the database after the other. The mirror remembers its state, so the command can be \
      stopped at any time and continues from there, on any member of a shared store.
      Models that are named are added to those of the mirror. Without names, each model whose \
      change journal is on is added. PostgreSQL refuses changes of the tables by other programs.
      With --follow the command goes on and writes each commit. Ctrl-C ends it with 130 and \
      SIGTERM with 143.
      """)

  @Argument(
    help: "Models to copy; all in the change journal by default.", completion: Completion.model)
  var models: [String] = []

  @Flag(help: "Go on, and write each commit of any program.")
  var follow = false

  @OptionGroup var mirror: MirrorOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    Interruption.await()
    let bell = try Bell()
    let mirror = try context.mirror(mirror)
    let opened = try context.openToMirror(onReplacement: bell.fail)
    let first = try update(mirror, opened.store)
    try context.console.say(MirrorText.text(of: first))
    guard follow else { return .ok }
    let growth = opened.store.changeJournal.growth(after: first.position)
    let ringing = Task {
      do {
        for try await _ in growth { bell.ring() }
      } catch {
        bell.fail(error)
      }
    }
    defer { ringing.cancel() }
    try context.console.say("following every commit (Ctrl-C to stop)")
    while try bell.wait(until: nil) != .interrupted {
      let progress = try update(mirror, opened.store)
      if progress.recordCount > 0 || !progress.rebuilt.isEmpty {
        try context.console.say(MirrorText.text(of: progress))
      }
    }
    return .interrupted
  }

  private func update(_ mirror: any RecordMirror, _ store: Store) throws -> MirrorProgress {
    try mirror.update(from: store, models: models.isEmpty ? nil : models)
  }
}
