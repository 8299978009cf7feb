import ArgumentParser
import ModelStore

/// `reorder`: moves a record within an ordered list.
struct ReorderCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "reorder", abstract: "Move a record within an ordered list.",
    discussion: """
      Examples: storecli reorder Track 17 --first
      storecli reorder Track 17 --in 3 --after 20
      An ordered list belongs to a record of another model, such as a playlist. Name that record \
      with --in if more than one list has the record. Places count from 1.
      """)

  @Argument(help: "The model of the list's elements.", completion: Completion.model)
  var model: String

  @Argument(help: ArgumentHelp("The key.", valueName: "id"), completion: Completion.key)
  var key: String

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Move it to this place.", valueName: "place"))
  var to: Int?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Move it before this record.", valueName: "id"))
  var before: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Move it behind this record.", valueName: "id"))
  var after: String?

  @Flag(help: "Move it to the first place.")
  var first = false

  @Flag(help: "Move it to the last place.")
  var last = false

  @Option(
    name: .customLong("in"), parsing: .unconditional,
    help: ArgumentHelp("The key of the record that the list belongs to.", valueName: "id"))
  var owner: String?

  @Option(help: ArgumentHelp("The list, such as Playlist.tracks.", valueName: "name"))
  var list: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Its place now, if the list has it more than once.", valueName: "place"))
  var from: Int?

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    let places = [to != nil, before != nil, after != nil, first, last].count { $0 }
    guard places == 1 else {
      throw ValidationError("Name one place: --to, --before, --after, --first or --last.")
    }
    guard to ?? 1 >= 1, from ?? 1 >= 1 else { throw ValidationError("Places count from 1.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook(at: [model])
    let schema = try looked.model(named: model)
    let lists = try ListsOfElement(of: schema, named: list, in: looked)
    let key = try KeyText.key(key, for: schema, in: looked)
    let anchor = try (before ?? after).map { try KeyText.key($0, for: schema, in: looked) }
    let (place, owner) = try lists.only(with: key, in: owner, looked)
    _ = try looked.writableModel(named: place.name, write)
    looked.close()
    let opened = try context.openForWriting()
    try context.writing(opened) { transaction in
      let editor = try transaction.list(place.list.name, of: place.owner, key: owner)
      let elements = try editor.keys()
      let index = try self.index(of: key, in: elements, schema)
      try editor.move(from: index, to: try target(of: index, anchor, in: elements, schema))
      return 1
    }
    return .ok
  }

  /// The place of the record, from 0.
  private func index(
    of key: [SQLValue], in elements: [SQLValue], _ schema: ModelSchema
  ) throws -> Int {
    let found = elements.indices.filter { elements[$0] == key[0] }
    if let from {
      guard found.contains(from - 1) else {
        throw CommandError(
          .notFound, code: "recordNotFound",
          "\(schema.name) \(KeyText.text(key)) is not at place \(from).", model: schema.name)
      }
      return from - 1
    }
    return try only(found, key, schema, hint: "add --from PLACE")
  }

  /// The place of the record after the move, from 0.
  private func target(
    of index: Int, _ anchor: [SQLValue]?, in elements: [SQLValue], _ schema: ModelSchema
  ) throws -> Int {
    if first { return 0 }
    if last { return elements.count - 1 }
    guard let anchor else {
      let place = to ?? 1
      guard place <= elements.count else {
        throw CommandError.usage("--to takes 1 to \(elements.count), the places of the list.")
      }
      return place - 1
    }
    let found = elements.indices.filter { elements[$0] == anchor[0] }
    let other = try only(found, anchor, schema, hint: "use --to PLACE")
    // Without the record itself, the others move up by one.
    let behind = after == nil ? other : other + 1
    return behind > index ? behind - 1 : behind
  }

  private func only(
    _ places: [Int], _ key: [SQLValue], _ schema: ModelSchema, hint: String
  ) throws -> Int {
    let record = "\(schema.name) \(KeyText.text(key))"
    guard let first = places.first else {
      throw CommandError(
        .notFound, code: "recordNotFound", "\(record) is not in the list.", model: schema.name)
    }
    guard places.count == 1 else {
      throw CommandError.usage(
        "\(record) is in the list more than once, at the places "
          + places.map { "\($0 + 1)" }.joined(separator: ", ") + ".",
        hint: hint, model: schema.name)
    }
    return first
  }
}
