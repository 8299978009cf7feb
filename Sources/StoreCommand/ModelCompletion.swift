import ArgumentParser

/// The names of the database's models, for the completion of shells.
enum ModelCompletion {
  /// Completes a model of the database that the words of the command line name.
  static var kind: CompletionKind {
    .custom { words, _, _ in
      Program.modelNames(Array(words.dropFirst()), application: Application(), in: .process)
    }
  }
}
