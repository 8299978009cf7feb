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
}
