import ArgumentParser
import ModelStore
import RecordFormats

/// `import`: the records of files of any size, into their models.
struct ImportCommand: WritingCommand {
  /// What to do with a record that cannot be imported.
  enum ErrorPolicy: String, CaseIterable, ExpressibleByArgument {
    /// Stop and roll back the transaction.
    case stop
    /// Leave it out.
    case skip
    /// Leave it out and write it to the file of rejects.
    case collect
  }

  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Read the records of files into models.",
    discussion: """
      Examples: storecli import people.csv --model Person --upsert
      storecli import Artist.ndjson Album.ndjson Track.ndjson
      storecli import people.csv --new-model Person --key email
      Reads CSV or TSV with a header, NDJSON, and one JSON array or object, in UTF-8 or UTF-16 \
      unless --encoding says otherwise, also compressed as FILE.gz or FILE.zst. A directory is one \
      that export --all wrote.
      Everything is one transaction unless --batch is given, and references are checked at its \
      end: a record may come before the one that it refers to, in the same file or another. With \
      --on-error skip or collect, such records are kept in memory until then. Values of fields \
      that the database computes are compared with what it computes, and a record is refused \
      where they differ.
      --new-model reads the file twice, and shows the types that it found before it makes the \
      table. A column gets a type only if all its values have it: numbers with leading zeros or \
      more than 15 digits, quoted cells and mixed columns stay text.
      --batch prints a token. If the import ends early, the same command with --resume TOKEN goes \
      on after the last batch: no record is imported twice, and none is left out.
      Before a transaction begins, a pipe is read to its end into a temporary file. Ctrl-C and \
      SIGTERM stop the running statement, roll its transaction back and say what is committed. A \
      second one ends at once, SIGTERM after a second at the latest; then nothing is said, and \
      FILE.PID.partial may stay beside the file of rejects.
      """)

  @Argument(
    help: ArgumentHelp(
      "The files, - for standard input; or one directory.", valueName: "file"),
    completion: .file())
  var paths: [String]

  @Option(
    help: "The model; by default, the name of each file without its ending.",
    completion: Completion.model)
  var model: String?

  @Option(help: ArgumentHelp("Make a model for the records of the file.", valueName: "name"))
  var newModel: String?

  @Flag(exclusivity: .exclusive)
  var mode = ImportMode.insert

  @Option(
    help: ArgumentHelp(
      "Unique fields that identify a record; by default, the key. With --new-model, its key.",
      valueName: "a,b"),
    completion: Completion.field)
  var key: String?

  @Option(
    help: ArgumentHelp(
      "With --new-model, how many records decide the types; all by default.", valueName: "n"))
  var sample: Int?

  @Flag(help: "Do not ask before --replace deletes records or --new-model makes a table.")
  var yes = false

  @Option(
    help: ArgumentHelp("What to do with a bad record, stop, skip or collect.", valueName: "what"))
  var onError = ErrorPolicy.stop

  @Option(help: ArgumentHelp("Where collect writes bad records.", valueName: "file"))
  var rejects: String?

  @OptionGroup var input: InputOptions

  @Option(help: ArgumentHelp("Records in one transaction; all by default.", valueName: "n"))
  var batch: Int?

  @Option(
    help: ArgumentHelp("Continue an import in batches that ended early.", valueName: "token"))
  var resume: String?

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard batch ?? 1 >= 1 else { throw ValidationError("--batch takes 1 or more.") }
    guard sample ?? 1 >= 1 else { throw ValidationError("--sample takes 1 or more.") }
    guard rejects == nil || onError == .collect else {
      throw ValidationError("--rejects goes with --on-error collect.")
    }
    guard rejects != "-" else {
      throw ValidationError("--rejects takes the name of a file, not -.")
    }
    guard paths.count == 1 || model == nil else {
      throw ValidationError("--model goes with one file; several files are named after models.")
    }
    guard paths.count == 1 || onError != .collect else {
      throw ValidationError("--on-error collect goes with one file.")
    }
    guard model != nil || newModel != nil || !paths.contains("-") else {
      throw ValidationError("--model is needed for standard input.")
    }
    try validateModes()
    try validateNewModel()
  }

  private func validateModes() throws {
    guard key == nil || mode.looksUp || newModel != nil else {
      throw ValidationError(
        "--key goes with --upsert, --update-only, --skip-existing, --replace or --new-model.")
    }
    guard mode != .replace || onError == .stop else {
      throw ValidationError(
        "--replace goes with --on-error stop: it would delete the records that the input has wrong."
      )
    }
    guard mode != .replace || batch == nil && input.predicate == nil else {
      throw ValidationError("--replace takes all of the input: no --batch and no --where.")
    }
    guard resume == nil || batch != nil && !change.dryRun else {
      throw ValidationError("--resume goes with --batch, and without --dry-run.")
    }
  }

  private func validateNewModel() throws {
    guard newModel != nil else {
      guard sample == nil else { throw ValidationError("--sample goes with --new-model.") }
      return
    }
    guard model == nil, paths.count == 1, mode == .insert, resume == nil else {
      throw ValidationError(
        "--new-model goes with one file, and without --model, --resume and the modes for records "
          + "that exist.")
    }
    guard input.set.isEmpty, input.rest == nil, !input.ignoreExtra else {
      throw ValidationError(
        "--new-model makes a field of each name in the file: no --set, --rest or --ignore-extra.")
    }
  }

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    if newModel != nil { return try importNewModel(context) }
    let subject = try ImportSubject(paths, model: model, from: context.surroundings)
    if subject.catalog != nil, batch != nil || onError == .collect {
      throw CommandError.usage(
        "A directory is imported in one transaction: no --batch and no --on-error collect.")
    }
    let (opened, schemas) = try open(subject.files.map(\.model), context)
    let resumed = try resume.map { try progress(of: $0, in: opened.store) }
    Interruption.await()
    var files = ImportFiles(
      paths: subject.files.map(\.path), schemas: schemas, inputs: opened.inputs)
    if mode == .replace, !change.dryRun, !yes {
      files.inputs = try files.inputs.keeping(files.paths)
      guard try mayReplace(files, opened, context) else {
        try context.console.say("nothing was changed")
        return .failed
      }
    }
    let catalog = subject.catalog
    var importing = try importing(files, opened, context) { transaction in
      try catalog?.check(schemas, transaction)
    }
    defer { context.warn(of: importing.warned) }
    return try importing.run(resuming: resumed)
  }

  /// What an unfinished import says about itself.
  private func progress(of token: String, in store: Store) throws -> ImportProgress {
    let unfinished = try store.unfinishedImports()
    guard let found = unfinished.first(where: { $0.token == token }) else {
      let others = unfinished.map { "\($0.token) (\($0.models.joined(separator: ", ")))" }
      throw CommandError(
        .notFound, code: "resume",
        "The store has no unfinished import \(token): it has ended, or committed nothing."
          + (others.isEmpty ? "" : " Unfinished: \(others.joined(separator: ", "))."))
    }
    return found
  }

  /// Prepares the import of files into models that the store has.
  private func importing(
    _ files: ImportFiles, _ opened: OpenedStore, _ context: CommandContext,
    completion: ((borrowing WriteTransaction) throws -> Void)? = nil
  ) throws -> Importing {
    let plan = Importing.Plan(
      mode: mode, stopsAtError: onError == .stop, batchCount: batch, isDryRun: change.dryRun,
      byteCountMax: try ValueLimit.bytes(in: context.surroundings),
      mayWait: files.paths.contains { context.surroundings.mayWait(for: $0) },
      completion: completion)
    let sources = try zip(files.paths, files.schemas).map { path, schema in
      var reading = input.reading()
      reading.readsAhead = plan.isOneTransaction
      if !input.set.isEmpty {
        reading.expressions = try InputExpressions(input.set, of: schema)
      }
      return Importing.Source(
        input: try RecordInput(path: path, schema: schema, options: reading, from: files.inputs),
        writing: RecordWriting(
          mode: mode,
          identity: try RecordIdentity(of: schema, names: newModel == nil ? keyNames : nil)),
        selection: try input.predicate.map { try InputSelection($0, of: schema) })
    }
    // A dry run counts the rejects and writes no file.
    let rejects =
      onError == .collect && !change.dryRun
      ? RejectsFile(
        path: self.rejects
          ?? RejectsFile.path(for: files.paths[0], model: files.schemas[0].name),
        headerBytes: sources[0].input.markedHeaderBytes,
        refusing: opened.location.storePaths + [files.paths[0]]) : nil
    return Importing(
      sources: sources, store: opened.store, rejects: rejects, console: context.console,
      plan: plan)
  }

  private var keyNames: [String]? {
    key?.split(separator: ",").map { $0.trimmingPrefix(" ").description }
  }

  /// Asks before records are deleted. No transaction is open meanwhile.
  private func mayReplace(
    _ files: ImportFiles, _ opened: OpenedStore, _ context: CommandContext
  ) throws -> Bool {
    let names = files.schemas.map(\.name).joined(separator: ", ")
    guard Confirmation.canAsk(context.console) else {
      return try Confirmation.isGranted(
        "import --replace deletes the records of \(names) that the input does not have.",
        isGiven: false, flag: "--yes", console: context.console)
    }
    var rehearsal = try importing(files, opened, context)
    let tally = try rehearsal.rehearse()
    guard tally.deletions.count > 0 else { return true }
    try context.console.say(tally.summary(of: mode, selects: false))
    for line in tally.cascadeLines { try context.console.say(line) }
    return try Confirmation.isGranted(
      "Delete \(Grouped.text(tally.deletions.count, "record")) of \(names)?", isGiven: false,
      flag: "--yes", console: context.console)
  }

  /// Makes a model for the records of the file, and imports them.
  private func importNewModel(_ context: CommandContext) throws -> ExitCode {
    let name = newModel ?? ""
    let looked = try context.openToLook()
    try NewModel.checkFree(name, in: looked)
    Interruption.await()
    let inputs = try looked.inputs.keeping(paths)
    var inference = ModelInference(
      stopsAtError: onError == .stop, sampleCount: sample, fieldNames: input.reading().fieldNames)
    try inference.read(paths[0], input.reading(), from: inputs)
    let made = try NewModel(named: name, key: keyNames, from: inference)
    try made.report(to: context)
    guard !change.dryRun else {
      try context.console.say("dry run: nothing was written")
      return .ok
    }
    let isGranted = try Confirmation.isGranted(
      "Make the table \(name)?", isGiven: yes, flag: "--yes", console: context.console)
    guard isGranted else {
      try context.console.say("nothing was written")
      return .failed
    }
    looked.store.close()
    let opened = try context.openForWriting()
    let schema = try made.create(in: opened.store)
    var hasCommitted = false
    do {
      var importing = try importing(
        ImportFiles(paths: paths, schemas: [schema], inputs: inputs), opened, context)
      defer {
        hasCommitted = importing.hasCommitted
        context.warn(of: importing.warned)
      }
      let code = try importing.run()
      try context.sayUnrecorded(among: [name], opened.store)
      return code
    } catch {
      guard !hasCommitted else { throw error }
      try made.remove(from: opened.store)
      var failure = CommandError(error)
      // The model is gone, so no command can show or change it.
      if failure.hint?.hasPrefix("storecli ") == true { failure.hint = nil }
      throw failure
    }
  }

  /// The store, and the model of each file.
  private func open(
    _ names: [String], _ context: CommandContext
  ) throws -> (opened: OpenedStore, schemas: [ModelSchema]) {
    do {
      let others = Array(names.dropFirst())
      let (opened, _, _) = try context.openForWriting(write, model: names[0], and: others) {
        looked, _ in
        for name in others { _ = try looked.writableModel(named: name, write) }
      }
      return (opened, try names.map { try opened.writableModel(named: $0, write) })
    } catch var error as CommandError where model == nil && error.code == "unknownModel" {
      guard !paths.contains(where: FileIdentity.isDirectory) else {
        error.hint =
          "a directory is imported into the models that it was exported from: adopt their tables, "
          + "or open the store once with the program that declares them"
        throw error
      }
      guard paths.count == 1 else { throw error }
      error.hint =
        "add --model MODEL; without it, the file's name is the model's. "
        + "--new-model NAME makes a model"
      throw error
    }
  }
}

/// The inputs of an import, and the model of each.
struct ImportFiles {
  var paths: [String]
  var schemas: [ModelSchema]
  var inputs: InputFiles
}
