internal import StoreCommand

#if Postgres
  internal import ModelStore
  internal import ModelStorePostgres

  Program(
    arguments: Array(CommandLine.arguments.dropFirst()),
    makeMirror: { try PostgresMirror($0, schema: $1) },
    makeLedger: { try .postgres($0, store: $1) }
  ).runToExit()
#else
  Program(arguments: Array(CommandLine.arguments.dropFirst())).runToExit()
#endif
