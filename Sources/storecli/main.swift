internal import StoreCommand

Program(arguments: Array(CommandLine.arguments.dropFirst())).runToExit()
