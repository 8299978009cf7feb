import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that a person edits with their editor, in a directory that only they can read.
///
/// It is removed when it is dropped, unless ``keeping(_:)`` was called.
final class TextEditor {
  /// The variables that name the editor.
  private static let names = ["VISUAL", "EDITOR"]

  private let line: String
  private let directory: String
  /// The file.
  let path: String
  private var isKept = false

  /// - Throws: ``CommandError`` if no editor is named and the command has no terminal, and for a
  ///   directory that cannot be made.
  init(fileName: String, on console: Console, in surroundings: Surroundings) throws {
    let variables = surroundings.variables(Self.names)
    let named = Self.names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    guard let line = named ?? (Confirmation.canAsk(console) ? "vi" : nil) else {
      throw CommandError.usage(
        "No editor is named, and the command has no terminal.",
        hint: "set EDITOR to the command of an editor")
    }
    self.line = line
    var template = Array("\(surroundings.temporaryDirectory)/storecli-edit-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(
        .failed, code: "output",
        "cannot make a directory in \(surroundings.temporaryDirectory): \(SystemError.last)",
        hint: "set TMPDIR to a directory in which you can write")
    }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    path = directory + "/" + fileName
  }

  deinit {
    guard !isKept else { return }
    unlink(path)
    rmdir(directory)
  }

  /// Leaves the file for the person, and returns `error` with the place of the file.
  func keeping(_ error: CommandError) -> CommandError {
    isKept = true
    var error = error
    error.details.append("  your text is in \(path)")
    return error
  }

  /// Writes `text`, runs the editor until it ends, and returns what the file holds then.
  ///
  /// - Throws: ``CommandError`` if the editor fails, or the file is gone or not UTF-8.
  func edit(_ text: String) throws -> String {
    let file = try OutputFile(path: path, refusing: [])
    try file.sink.append(text)
    try file.close()
    let ending: ChildProcess.Ending
    do {
      let process = try ChildProcess(
        shell: line + " \"$1\"", arguments: [path], receiving: [SIGINT, SIGQUIT])
      // Ctrl-C is for the editor.
      let earlier = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
      defer {
        signal(SIGINT, earlier.0)
        signal(SIGQUIT, earlier.1)
      }
      ending = try process.end()
    } catch {
      throw CommandError(.failed, code: "editor", "cannot run the editor \(line): \(error)")
    }
    guard ending.isSuccess else {
      throw CommandError(
        .failed, code: "editor", "The editor \(line) \(ending); nothing was changed.",
        hint: "set VISUAL or EDITOR to the command of an editor that waits until you leave it")
    }
    let bytes = try InputFiles(surroundings: .process, refusedPaths: []).contents(of: path)
    guard let edited = String(validating: bytes, as: UTF8.self) else {
      throw keeping(
        CommandError(.failed, code: "editor", "The edited text is not UTF-8; nothing was changed."))
    }
    return edited
  }
}
