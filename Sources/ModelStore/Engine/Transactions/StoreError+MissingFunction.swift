extension StoreError {
  /// What a program does that writes to a member of a shared store without its ledger.
  static let ledgerRemedy = "Set StoreConfiguration.ledger, or STORECLI_LEDGER for storecli."

  /// Creates the error for a binding that calls a function which this program does not have.
  ///
  /// - Returns: nil for another failure.
  init?(missingFunction error: SQLiteError, of bindings: [BindingSchema]) {
    let start = "no such function: "
    guard error.message.hasPrefix(start) else { return nil }
    let name = String(error.message.dropFirst(start.count)).asciiFolded
    if name == SQLFunction.memberOnly.name {
      self.init(
        .configurationConflict,
        "Nothing was changed: the file is a member of a shared store, so a program needs its ledger to write. \(Self.ledgerRemedy)",
        sqliteCode: error.code.rawValue)
      return
    }
    guard let binding = bindings.first(where: { $0.functions?.contains(name) ?? false })
    else { return nil }
    self.init(
      .unknownFunction,
      "Nothing was changed: the binding \(binding.name) calls the function \(name), which this "
        + "program does not have. Write with a program that has it.",
      model: binding.target.model, field: binding.target.field, sqliteCode: error.code.rawValue)
  }
}
