import ArgumentParser
import ModelStore
import RecordFormats

/// `bindings check`: compares triggers and bound values with the bindings in the file.
struct BindingsCheckCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check that every bound field has the value of its binding.",
    discussion: """
      Example: storecli bindings check
      Exits with 2 when a trigger is missing or edited, or a record differs from its source, with 1
      when a table or value cannot be read here.
      The report shows the keys of the first 20 such records.
      """)

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let store = try context.openForReading().store
    let findings = try store.bindingFindings(maxKeyCount: 20)
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("binding", role: .key), OutputColumn("triggers", meaning: .json),
        OutputColumn("records"), OutputColumn("keys", meaning: .json),
      ])
    for finding in findings {
      let objects = finding.drift?.objects ?? []
      try writer.write([
        .text(finding.binding),
        try context.list(objects.map { .string($0) }, as: objects.joined(separator: " ")),
        .integer(Int64(finding.recordCount)),
        try context.list(keys: finding.keys),
      ])
    }
    try context.finish(writer)
    let known = try store.bindings()
    let isRebuildable = findings.contains { !$0.isGone }
    try context.console.say(
      "\(Grouped.text(known.count, "binding")) checked, \(findings.count) to repair"
        + (isRebuildable ? " (\(Program.name) bindings rebuild)" : ""))
    for finding in findings
    where !finding.isCompared
      && known.contains(where: { $0.name == finding.binding && $0.functions == nil })
    {
      let reason = finding.obstacle?.reason ?? "something that it needs is missing"
      try context.console.say(
        "\(finding.binding): its values could not be compared: \(reason)"
          + (finding.isGone ? " (\(finding.dropping))" : ""))
    }
    for binding in known {
      guard let functions = binding.functions else { continue }
      try context.console.say(
        "\(binding.name) calls \(functions.joined(separator: ", ")), which \(Program.name) does not have: its "
          + "values were not checked")
    }
    for loss in try store.lossyConversions() {
      try context.console.say(
        "\(loss.binding): the conversion is lossy: \(Grouped.text(loss.recordCount, "record")) would "
          + "change on the way back")
    }
    var unread = UnreadModels()
    try unread.noteUnreadableEntries(of: store)
    let isFound = findings.contains { $0.drift != nil || $0.recordCount > 0 }
    return try unread.report(
      to: context, otherwise: isFound ? .found : findings.isEmpty ? .ok : .failed)
  }
}
