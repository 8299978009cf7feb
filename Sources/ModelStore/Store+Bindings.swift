extension Store {
  /// Drops a binding: its field keeps the values that it has and follows nothing from then on, for
  /// every writer. A program that declares the binding installs it again when it opens the file.
  ///
  /// To be called before a field or table that a binding names is dropped.
  ///
  /// - Throws: ``StoreError`` with code `unknownBinding` when the file has none of that name.
  public func dropBinding(_ name: String) throws {
    try core.dropBinding(name)
  }

  /// Makes every binding true again, whatever happened to its triggers or to the records: what
  /// ``bindingFindings()`` finds is mended. Observers are told of each value that was wrong.
  ///
  /// - Returns: The bindings of which records were wrong and how many, sources before what follows
  ///   them; empty when all values were right. Values that an edited trigger spoils again meanwhile
  ///   are put right with the triggers, and observers look anew.
  /// - Throws: ``StoreError`` when a binding names what is not there any more, when a rule refuses
  ///   a value, or when a trigger of the application changes one back. The values that were mended
  ///   before triggers are made anew stay.
  /// - Complexity: Reads all records of each bound model once for each binding, while writers wait.
  @discardableResult
  public func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    try core.rebuildBindings()
  }

  /// Puts every bound value right as ``rebuildBindings()`` does, then rolls that back: tells which
  /// records it would change, or why it would be refused. Nothing is announced.
  ///
  /// - Returns: As ``rebuildBindings()``.
  /// - Throws: ``StoreError`` when a binding names what is not there any more, or when a rule
  ///   refuses a value.
  public func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try core.previewBindingsRebuild()
  }
}
