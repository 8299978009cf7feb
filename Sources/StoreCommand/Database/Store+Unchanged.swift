import ModelStore

extension Store {
  /// Refuses to go on with models that another program has changed since, such as by a new type of
  /// a field. Cheap: it reads nothing of the file.
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
