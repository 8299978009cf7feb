import ArgumentParser
import ModelStore
import RecordFormats

/// `version`: which release this is.
struct VersionCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Show the version of this program.")

  /// This release.
  static let number = "0.1.0"

  /// The program that has this version: an application has its own version.
  static var program: String { Program.name == "storecli" ? "storecli" : "ModelStore" }

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    var writer = try context.reportWriter(
      columns: [OutputColumn("program"), OutputColumn("version")])
    try writer.write([.text(Self.program), .text(Self.number)])
    try context.finish(writer)
    return .ok
  }
}
