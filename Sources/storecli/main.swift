internal import StoreCommand

#if Postgres
  internal import ModelStore
  internal import ModelStorePostgres

  Program(arguments: Array(CommandLine.arguments.dropFirst())) { connection, store in
    try .postgres(connection, store: store)
  }.runToExit()
#else
  Program(arguments: Array(CommandLine.arguments.dropFirst())).runToExit()
#endif
