import ArgumentParser
import ModelStore

/// `rules rebuild`: puts the triggers and indexes of added rules in place again.
struct RulesRebuildCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Put the triggers of added rules in place again.",
    discussion: """
      Example: storecli rules rebuild --dry-run
      Triggers go missing when a program rebuilds a table without them; storecli doctor finds \
      that. Records stay as they are; storecli validate lists those that break a rule meanwhile.
      """)

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let drift = try looked.store.schemaDrift(of: [.rules]).filter { !$0.differences.isEmpty }
    let rules = try looked.store.rules().filter { rule in
      drift.contains { $0.owner == .rule(rule.name) }
    }
    // A unique index holds for all records or is none.
    for rule in rules where rule.kind == .unique && rule.severity == .error {
      guard let finding = try looked.store.finding(of: rule) else { continue }
      throw RuleRefusal(finding, "put in place").error
    }
    looked.store.close()
    let mended =
      drift.isEmpty || context.isDryRun
      ? drift : try context.openForWriting().store.rebuildRules()
    let would = context.isDryRun ? "would be " : ""
    for drift in mended {
      try context.console.say(
        "\(drift.owner.name): \(drift.objects.joined(separator: ", ")) \(would)recreated")
    }
    try context.console.say(
      context.isDryRun
        ? "dry run: nothing was changed" : "\(Grouped.text(mended.count, "rule")) repaired")
    return .ok
  }
}
