import ModelStore

extension JournalTransaction {
  /// What is said of changes that may be missing. Models whose journal was turned on or off one
  /// directly after the other are named together.
  ///
  /// - Parameter isIncluded: Whether the model called so is of interest.
  func gapWords(of isIncluded: (String) -> Bool = { _ in true }) -> [String] {
    var runs: [(models: [String], first: JournalInterruption, last: JournalInterruption)] = []
    for next in interruptions where isIncluded(next.model) {
      if let run = runs.last, run.last.kind == next.kind,
        run.last.position.rawValue + 1 == next.position.rawValue
      {
        let models = run.models.contains(next.model) ? run.models : run.models + [next.model]
        runs[runs.count - 1] = (models, run.first, next)
      } else {
        runs.append(([next.model], next, next))
      }
    }
    return runs.map { models, first, last in
      let place =
        switch first.kind {
        case .stopped: "from seq \(first.position) on"
        case .started: "before seq \(last.position)"
        }
      return "gap: changes of \(models.joined(separator: ", ")) may be missing \(place)"
    }
  }
}

extension JournalDetail {
  /// What is said of a model whose changes are entered so, but not by the right triggers, and what
  /// mends it.
  func damage(of model: String) -> String {
    let keys = self == .keys ? " --keys" : ""
    return
      "\(model): triggers of the journal are missing, changed or older than the table, so changes "
      + "may be missing (storecli journal on \(Shell.quoted(model))\(keys))"
  }
}

extension Console {
  /// Says of models that the journal may not have their changes from now on.
  func sayDamage(of models: some Collection<String>, in journal: ChangeJournal) throws {
    guard !models.isEmpty else { return }
    let details = try journal.details()
    for model in models.sorted() { try say("gap: " + (details[model] ?? .full).damage(of: model)) }
  }
}
