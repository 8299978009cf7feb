// Bindings that are in the file.
extension StoreCore {
  func dropBinding(_ name: String) throws {
    try changingCatalog { connection in
      let names = try CatalogEntries.bindings.read(on: connection).map(\.name)
      guard names.contains(where: { $0.isExactly(name) }) else {
        throw StoreError(.unknownBinding, "There is no binding \(name) in this store.")
      }
      _ = try BindingInstallation.remove(name, from: connection)
      try CatalogEntries.bindings.remove([name], on: connection)
    }
  }

  func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    // Values first, in a transaction like any other: so observers are told exactly, and making the
    // triggers anew finds nothing to put right.
    let mended = try commit { tx in try self.synchroniseBindings(on: tx.access.connection) }
    try changingCatalog { connection in
      _ = try self.installedBindings(on: connection).apply(to: connection)
    }
    return mended
  }

  func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try writer.sync { writer in
      try write(&writer, ending: .rollback) { tx in
        try self.synchroniseBindings(on: tx.access.connection)
      }.value
    }
  }

  /// Puts every record right that is not.
  ///
  /// - Returns: The bindings of which some were wrong, and how many.
  private func synchroniseBindings(
    on connection: Connection
  ) throws -> [(binding: String, recordCount: Int)] {
    try installedBindings(on: connection).bindings.map { binding in
      (binding: binding.binding.name, recordCount: try binding.synchronise(on: connection))
    }
    .filter { $0.recordCount > 0 }
  }

  private func installedBindings(on connection: Connection) throws -> BindingInstallation {
    try BindingInstallation(
      try CatalogEntries.bindings.read(on: connection), in: models.schema.models)
  }
}
