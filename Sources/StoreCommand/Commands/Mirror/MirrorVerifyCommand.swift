import ArgumentParser
import ModelStore
import RecordFormats

/// `mirror verify`: compares a mirror with the database.
struct MirrorVerifyCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare each record of a mirror with the database.",
    discussion: """
      Example: storecli mirror verify
      Brings the mirror up to date, and compares all its records in that state. Prints each \
      difference: missing and changed records, and extra ones that only the mirror has. At most \
      1,000 missing or changed records and 1,000 extra ones of each model are printed. Exits with \
      2 if there are any. storecli mirror rebuild repairs them.
      """)

  @OptionGroup var mirror: MirrorOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let mirror = try context.mirror(mirror)
    let opened = try context.openToMirror()
    let differences = try mirror.verify(against: opened.store)
    try context.writeReport(
      of: "difference",
      columns: [
        OutputColumn("model"), OutputColumn("key", role: .key), OutputColumn("difference"),
      ],
      rows: differences.map { difference in
        [
          .text(difference.model), .text(KeyText.text(difference.key)),
          .text(difference.kind.rawValue),
        ]
      })
    return differences.isEmpty ? .ok : .found
  }
}
