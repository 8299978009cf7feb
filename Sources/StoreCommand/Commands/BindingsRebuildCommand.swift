import ArgumentParser
import ModelStore

/// `bindings rebuild`: puts right what `bindings check` finds.
struct BindingsRebuildCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Put every bound field right and its triggers in place.",
    discussion: """
      Example: storecli bindings rebuild --dry-run
      With --dry-run, counts the records that differ and changes nothing.
      """)

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    if write.dryRun {
      for finding in try context.openForReading().store.bindingFindings() {
        try context.console.say(Self.text(finding.binding, finding.recordCount))
      }
      try context.console.say("dry run: nothing was changed")
      return .ok
    }
    let store = try context.openForWriting(write).store
    let mended = try store.rebuildBindings()
    for (binding, recordCount) in mended {
      try context.console.say(Self.text(binding, recordCount))
    }
    try context.console.say(
      "\(Grouped.text(try store.bindings().count, "binding")) rebuilt")
    return .ok
  }

  private static func text(_ binding: String, _ recordCount: Int) -> String {
    "\(binding): \(Grouped.text(recordCount, "record")) put right"
  }
}
