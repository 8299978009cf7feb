import ModelStore

/// The error for a rule that stored records break, with those records.
struct RuleRefusal {
  private let finding: RuleFinding
  private let verb: String

  /// - Parameter verb: What the command did not do with the rule: "added".
  init(_ finding: RuleFinding, _ verb: String) {
    self.finding = finding
    self.verb = verb
  }

  var error: CommandError {
    let violations = finding.keys.map { key in
      var violation = finding.violation
      violation.key = key
      return violation
    }
    let violation = finding.violation
    let breaking = finding.count == 1 ? "breaks" : "break"
    return CommandError(
      .rejected, code: StoreError.Code.rejected.rawValue,
      "The rule \(violation.rule) was not \(verb): "
        + "\(Grouped.text(finding.count, "record")) \(breaking) it already. \(remedy)",
      details: CommandError.lines(for: violations, count: finding.count), hint: hint,
      model: violation.model, field: violation.fields.count == 1 ? violation.fields[0] : nil,
      violations: violations, violationCount: finding.count)
  }

  /// A unique rule is an index, which cannot contain a value twice.
  private var remedy: String {
    guard finding.violation.kind == .unique else {
      return "Change those first; nothing was changed."
    }
    let option = verb == "added" ? ", not even with --keep-violations" : ""
    return "A unique rule cannot keep them\(option). "
      + "Give them other values first; nothing was changed."
  }

  private var hint: String? {
    guard finding.violation.kind == .unique else {
      return "--keep-violations adds the rule and leaves those records as they are"
    }
    return finding.keys.first.map { key in
      "storecli get \(Shell.quoted(finding.violation.model)) \(Shell.quoted(KeyText.text(key)))"
    }
  }
}

extension RuleFinding {
  /// The number of records and the keys of the first: `3 records: 1 2 3`.
  var recordsText: String {
    let shown = keys.prefix(CommandError.maxViolationCount).map(KeyText.text)
    let more = count > shown.count ? " …" : ""
    return "\(Grouped.text(count, "record")): \(shown.joined(separator: " "))\(more)"
  }
}
