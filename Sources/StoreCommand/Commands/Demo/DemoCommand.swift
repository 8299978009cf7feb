import ArgumentParser
import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `demo`: a walk through the library, with a store that it makes.
struct DemoCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Watch a store at work, with made-up data.",
    discussion: """
      Example: storecli demo
      The store stays, in a new temporary directory or in that of --keep, so that you can try \
      commands with it.
      """)

  @Option(help: ArgumentHelp("The directory to leave the store in.", valueName: "directory"))
  var keep: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard options.database == nil else {
      throw ValidationError("demo makes its own store. Choose the directory with --keep.")
    }
    guard options.format == nil else {
      throw ValidationError("demo prints a story for people and has no other format.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let directory = try keep ?? Self.makeDirectory(in: context.surroundings.temporaryDirectory)
    let path = directory + "/music.store"
    var status = stat()
    guard lstat(path, &status) != 0 else {
      throw CommandError(
        .failed, code: "exists", "\(path) exists already; demo begins with a new file.",
        hint: "storecli demo --keep ANOTHER-DIRECTORY")
    }
    try Story(path: path, console: context.console).run()
    return .ok
  }

  private static func makeDirectory(in parent: String) throws -> String {
    var template = Array("\(parent)/storecli-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      let error = SystemError.last
      throw CommandError(.failed, code: "output", "cannot make a directory in \(parent): \(error)")
    }
    return template.withUnsafeBufferPointer { characters in
      characters.baseAddress.map { String(cString: $0) } ?? parent
    }
  }
}
