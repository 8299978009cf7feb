import ModelStore

/// What an import reads: the files, the model of each, and the catalog of a directory.
struct ImportSubject {
  let files: [(path: String, model: String)]
  /// Nil unless a directory is imported.
  let catalog: ExportCatalog?

  /// - Parameter model: The model of the only file; nil for the file's name.
  /// - Throws: ``CommandError`` for a directory that `export --all` did not write.
  init(_ paths: [String], model: String?, from surroundings: Surroundings) throws {
    guard let directory = paths.first(where: FileIdentity.isDirectory) else {
      files = paths.map { ($0, model ?? Self.modelName(of: $0)) }
      catalog = nil
      return
    }
    guard paths.count == 1, model == nil else {
      throw CommandError.usage(
        "\(directory) is a directory, which is imported alone and without --model.")
    }
    let catalog = try ExportCatalog(of: directory, from: InputFiles(surroundings: surroundings))
    self.catalog = catalog
    files = catalog.entries.map { ("\(directory)/\($0.file)", $0.name) }
  }

  /// The name of the file without its endings.
  private static func modelName(of path: String) -> String {
    let name = String(CompressedFile.uncompressedName(of: path).split(separator: "/").last ?? "")
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }
}
