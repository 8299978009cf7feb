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

/// `demo`: the story of a store, on data of its own making.
struct DemoCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Watch a store at work, on data that it makes itself.",
    discussion: """
      Example: storecli demo
      Leaves the store behind, in a new temporary directory unless --keep names one, to try \
      commands on.
      """)

  @Option(help: ArgumentHelp("The directory to leave the store in.", valueName: "directory"))
  var keep: String?

  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard options.database == nil else {
      throw ValidationError("The demonstration makes its own store; --keep says where.")
    }
    guard options.format == nil else {
      throw ValidationError("The demonstration is a story for people and has one form only.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let directory = try keep ?? Self.makeDirectory(in: context.surroundings.temporaryDirectory)
    let path = directory + "/music.store"
    var status = stat()
    guard lstat(path, &status) != 0 else {
      throw CommandError(
        .failed, code: "exists", "\(path) exists already; the story begins with a new file.",
        hint: "storecli demo --keep ANOTHER-DIRECTORY")
    }
    try Story(path: path, console: context.console).tell()
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
