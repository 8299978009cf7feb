import ModelStore
import StoreCommand

let arguments = Array(CommandLine.arguments.dropFirst())
let noDrafts = Validator("Book.noDrafts", Book.self) { change, _ in
  guard let book = change.new, book.title.hasSuffix("(draft)") else { return .accept }
  return .reject("must not be a draft", \.title)
}

if arguments.first == "new", arguments.count == 2 {
  // A command of this application.
  _ = try Store(at: arguments[1], models: Book.self, validators: [noDrafts])
} else {
  // Every command of storecli, under this name and with this application's rules.
  Program(
    name: "bookshelf", arguments: arguments, models: Book.self, validators: [noDrafts]
  ).runToExit()
}
