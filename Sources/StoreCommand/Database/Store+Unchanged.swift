import ModelStore

extension Store {
  /// Throws if another program has changed one of the models meanwhile, for example the type of a
  /// field. Cheap: it reads nothing from the file.
  ///
  /// - Throws: ``CommandError`` that names the first of them.
  func checkUnchanged(_ models: [ModelSchema]) throws(CommandError) {
    let present = schema.models
    guard let changed = models.first(where: { !present.contains($0) }) else { return }
    throw CommandError(
      .failed, code: StoreError.Code.schemaMismatch.rawValue,
      "The model \(changed.name) was changed by another program; run it again.",
      model: changed.name)
  }
}
