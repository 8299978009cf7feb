import ArgumentParser
import ModelStore
import RecordFormats

/// `compact`: the database without the space of deleted data.
struct CompactCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Rebuild the file without the space of deleted data.",
    discussion: """
      Example: storecli compact -d app.db
      Runs VACUUM. Others can read meanwhile, and writes wait. Records, keys and the change journal \
      stay as they are. It needs room for a copy of the data beside the database, and for another \
      one in the directory for temporary files.
      """)

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    try context.openToLook().store.close()
    Interruption.await()
    let opened = try context.openForWriting()
    let sizes: (byteCountBefore: Int64, byteCountAfter: Int64)
    do {
      sizes = try opened.store.compact()
    } catch  where Interruption.explains(error) {
      throw CommandError(.interrupted, code: "interrupted", "Interrupted; nothing was changed.")
    }
    var writer = try context.reportWriter(
      columns: [OutputColumn("before"), OutputColumn("after")])
    try writer.write([.integer(sizes.byteCountBefore), .integer(sizes.byteCountAfter)])
    try context.finish(writer)
    return .ok
  }
}
