import ArgumentParser
import ModelStore

/// `rules rebuild`: recreates the triggers and indexes of added rules.
struct RulesRebuildCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Recreate missing triggers and indexes of added rules.",
    discussion: """
      Example: storecli rules rebuild --dry-run
      A program that rebuilds a table may lose its triggers; storecli doctor finds that. Records \
      stay as they are. Use storecli validate to list those that began to break a rule.
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
    // A unique index cannot leave out existing violations.
    for rule in rules where rule.kind == .unique && rule.severity == .error {
      guard let finding = try looked.store.finding(of: rule) else { continue }
      throw RuleRefusal(finding, "recreated").error
    }
    looked.store.close()
    let repaired =
      drift.isEmpty || context.isDryRun
      ? drift : try context.openForWriting().store.rebuildRules()
    let would = context.isDryRun ? "would be " : ""
    for drift in repaired {
      try context.console.say(
        "\(drift.owner.name): \(drift.objects.joined(separator: ", ")) \(would)recreated")
    }
    try context.console.say(
      context.isDryRun
        ? "dry run: nothing was changed" : "\(Grouped.text(repaired.count, "rule")) repaired")
    return .ok
  }
}
