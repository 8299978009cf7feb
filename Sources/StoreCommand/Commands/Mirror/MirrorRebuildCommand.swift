import ArgumentParser
import ModelStore

/// `mirror rebuild`: writes every record of a mirror again.
struct MirrorRebuildCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Write every record of a mirror again.",
    discussion: """
      Example: storecli mirror rebuild
      Use it after storecli mirror verify found differences. Indexes, views and rights in \
      PostgreSQL stay.
      """)

  @OptionGroup var mirror: MirrorOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let mirror = try context.mirror(mirror)
    let opened = try context.openToMirror()
    try context.console.say(MirrorText.text(of: try mirror.rebuild(from: opened.store)))
    return .ok
  }
}
