import ArgumentParser
import ModelStore

/// `bindings rebuild`: repairs what `bindings check` finds.
struct BindingsRebuildCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Update every bound field, and recreate missing triggers.",
    discussion: """
      Example: storecli bindings rebuild --dry-run
      With --dry-run, counts the records that differ and changes nothing. Exits with 1 when a table \
      or value cannot be read here; other bindings are rebuilt.
      """)

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let bindings = try looked.store.bindings()
    let findings = try looked.store.bindingFindings()
    // Values that could not be compared may be wrong. Programs that have the Swift functions
    // rebuild the bindings that call them.
    let left = Set(bindings.filter { $0.functions != nil }.map(\.name))
    if findings.contains(where: {
      $0.recordCount > 0 || !$0.isCompared && !left.contains($0.binding)
    }) {
      // A repaired value may be the source of another binding.
      let models = try bindings.flatMap { binding in
        try binding.writtenModels(among: bindings, in: looked.store)
      }
      for model in Set(models).sorted() { _ = try looked.writableModel(named: model, write) }
    }
    var unread = UnreadModels()
    try unread.noteUnreadableEntries(of: looked.store)
    looked.store.close()
    let rebuild =
      try findings.isEmpty
      ? nil
      : context.openForWriting().store.rebuildReadableBindings(
        mode: context.isDryRun ? .preview : .commit)
    for (binding, error) in rebuild?.unread ?? [] {
      let isGone = findings.contains { $0.binding == binding && $0.isGone }
      unread.noteBinding(
        binding, error, hint: isGone ? "storecli bindings drop \(Shell.quoted(binding))" : nil)
    }
    let leftOut = Set(rebuild?.unread.map(\.binding) ?? [])
    let would = context.isDryRun ? "would be " : ""
    for drift in findings.compactMap(\.drift) where !leftOut.contains(drift.owner.name) {
      try context.console.say(
        "\(drift.owner.name): \(drift.objects.joined(separator: ", ")) \(would)recreated")
    }
    for (binding, recordCount) in rebuild?.updated ?? [] {
      try context.console.say(
        "\(binding): \(Grouped.text(recordCount, "record")) \(would)updated")
    }
    try context.console.say(
      context.isDryRun
        ? "dry run: nothing was changed"
        : "\(Grouped.text(bindings.count - leftOut.count, "binding")) in place")
    return try unread.report(to: context, otherwise: .ok)
  }
}
