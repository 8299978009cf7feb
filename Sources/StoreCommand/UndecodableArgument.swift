/// A word of the command line of this process that is not UTF-8.
///
/// Swift silently replaces such bytes in `CommandLine.arguments`, so a command would write another
/// text than the user passed.
enum UndecodableArgument {
  /// An error that names the first of `words` that this process was given in another encoding; nil
  /// when there is none. Words that do not come from the command line are always UTF-8.
  static func problem(in words: [String]) -> CommandError? {
    let replaced = words.filter { $0.unicodeScalars.contains("\u{FFFD}") }
    guard !replaced.isEmpty else { return nil }
    let arguments = CommandLine.arguments
    for number in arguments.indices.dropFirst() where replaced.contains(arguments[number]) {
      guard let bytes = CommandLine.unsafeArgv[number] else { continue }
      if String(validatingCString: bytes) == nil {
        return CommandError.usage(
          "Argument \(number) is not UTF-8. Pass it in UTF-8; nothing was done.")
      }
    }
    return nil
  }
}
