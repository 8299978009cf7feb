import ModelStore

/// The application that a command line belongs to. `storecli` itself belongs to none.
struct Application: Sendable {
  /// The file that the commands open when the command line names none; nil to find it as
  /// ``DatabaseLocation`` says.
  var database: String?
  /// What the application brings to its store.
  var declarations = Declarations()
  /// How the application opens its store.
  var configuration = StoreConfiguration()
  /// Makes the ledger of a shared store from a connection and the store's name; nil if the program
  /// has none.
  var makeLedger: LedgerMaker?

  /// Makes a mirror from a connection and the name of its schema; nil if the program has none.
  var makeMirror: MirrorMaker?

  typealias MirrorMaker =
    @Sendable (_ connection: String, _ schema: String) throws -> any RecordMirror
  typealias LedgerMaker = @Sendable (_ connection: String, _ store: String) throws -> SharedLedger
}
