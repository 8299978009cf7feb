/// Names of other programs for commands and options, for hints. Nothing runs a guess.
enum CommandGuesses {
  /// The command to write for `word`, with the model that follows it.
  static func command(for word: String, before next: String?) -> String? {
    let model = next.flatMap { $0.hasPrefix("-") ? nil : Shell.quoted($0) }
    let named = model ?? "MODEL"
    return switch word.lowercased() {
    case "list", "ls", "show", "find", "select":
      model.map { "storecli query \($0)" } ?? "storecli models, or storecli query MODEL"
    case "count": "storecli query \(named) --count"
    case "tables", "schema": model.map { "storecli models \($0)" } ?? "storecli models"
    case "add", "create": "storecli insert \(named)"
    case "rm", "remove": "storecli delete \(named)"
    case "set": "storecli update \(named)"
    case "sql": "storecli query --sql 'SELECT …'"
    case "dump": "storecli export \(named)"
    default: nil
    }
  }

  /// The option that the parser refused with `message`, and the hint that names the right one.
  static func option(
    in words: [String], refusedBy message: String
  ) -> (option: String, hint: String)? {
    for word in words {
      let name = String(word.prefix { $0 != "=" })
      guard message.contains("'\(name)'"), let option = options[name] else { continue }
      return (name, "write \(option)")
    }
    return nil
  }

  private static let options = [
    "--columns": "--fields A,B", "--format": "-o FORMAT", "--order-by": "--sort FIELD",
    "--desc": "--sort -FIELD",
  ]
}
