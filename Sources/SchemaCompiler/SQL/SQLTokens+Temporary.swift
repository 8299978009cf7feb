extension SQLTokens {
  /// Whether the text begins with a statement that creates something in the temporary database.
  /// There it would hide the object of the file with the same name.
  package var createsTemporary: Bool {
    var rest = significant.drop { isSymbol($0, ";") }
    guard let create = rest.popFirst(), isKeyword(create, "CREATE") else { return false }
    guard let second = rest.first else { return false }
    if isKeyword(second, "TEMP") || isKeyword(second, "TEMPORARY") { return true }
    let leading = ["UNIQUE", "VIRTUAL", "TABLE", "VIEW", "TRIGGER", "INDEX", "IF", "NOT", "EXISTS"]
    rest = rest.drop { token in leading.contains { isKeyword(token, $0) } }
    guard let qualifier = rest.popFirst(), let dot = rest.first, isSymbol(dot, ".") else {
      return false
    }
    return name(qualifier).asciiFolded == "temp"
  }
}
