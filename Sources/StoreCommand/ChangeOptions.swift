import ArgumentParser

/// The options of every command that changes the file.
struct ChangeOptions: ParsableArguments {
  @Flag(
    name: [.customShort("n"), .long],
    help: "Report what would change, or why it would be refused, and change nothing.")
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for another writer, in seconds.", valueName: "seconds"))
  var busyTimeout: Double = 5

  func validate() throws {
    guard (0...86_400).contains(busyTimeout) else {
      throw ValidationError("--busy-timeout takes 0 to 86400 seconds.")
    }
  }
}

extension ChangeOptions {
  /// The options of a command that changes nothing, without parsing words. In an initializer, the
  /// assignments would define the options and not set them.
  static func preview(busyTimeout: Double) -> ChangeOptions {
    var options = ChangeOptions()
    options.dryRun = true
    options.busyTimeout = busyTimeout
    return options
  }
}
