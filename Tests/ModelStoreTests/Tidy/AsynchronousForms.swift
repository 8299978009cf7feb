/// The public calls of types that reach a store's file, and which of them have an asynchronous
/// form.
///
/// Read from the sources, as ``PublicInterface`` is. A call is its type, name and labels, such as
/// `Store.find(_:_:)`. Overloads with the same labels count as one call.
struct AsynchronousForms {
  /// The calls that have only a synchronous form, in order.
  let missing: [String]

  /// - Parameter types: The types whose calls are read.
  init(of files: [SourceText], types: Set<String>) {
    var asynchronous: Set<String> = []
    var all: Set<String> = []
    for call in files.flatMap({ Self.calls(in: $0.tokens) }) where types.contains(call.type) {
      all.insert(call.name)
      if call.isAsynchronous { asynchronous.insert(call.name) }
    }
    missing = all.subtracting(asynchronous).sorted()
  }

  private struct Call {
    let type: String
    /// With the type and the labels.
    let name: String
    let isAsynchronous: Bool
  }

  private static let typeKeywords: Set = ["extension", "struct", "class", "enum", "actor"]
  private static let modifiers: Set = [
    "static", "final", "convenience", "borrowing", "consuming", "mutating", "package",
  ]

  private static func calls(in tokens: [SourceText.Token]) -> [Call] {
    var calls: [Call] = []
    var type = ""
    for (index, token) in tokens.enumerated() {
      if token.depth == 0, typeKeywords.contains(token.text), tokens.indices.contains(index + 1),
        index == 0 || tokens[index - 1].text != "."
      {
        let next = tokens[index + 1].text
        if next != "func" { type = next }
      }
      guard token.text == "public", token.depth == 1 else { continue }
      var place = index + 1
      while place < tokens.count, modifiers.contains(tokens[place].text) { place += 1 }
      guard place < tokens.count, ["func", "init"].contains(tokens[place].text) else { continue }
      let name = tokens[place].text == "func" ? tokens[place + 1].text : "init"
      guard let start = tokens[place...].firstIndex(where: { $0.text == "(" }) else { continue }
      let (labels, end) = labels(in: tokens, from: start)
      calls.append(
        Call(
          type: type, name: "\(type).\(name)(\(labels.map { "\($0):" }.joined()))",
          isAsynchronous: tokens.indices.contains(end + 1) && tokens[end + 1].text == "async"))
    }
    return calls
  }

  /// Returns the labels of the parameters in the parenthesis at `start`, and its end.
  private static func labels(
    in tokens: [SourceText.Token], from start: Int
  ) -> (labels: [String], end: Int) {
    var labels: [String] = []
    var open = 0
    var isNext = false
    for index in start..<tokens.count {
      let text = tokens[index].text
      if isNext, text != ")" { labels.append(text) }
      isNext = false
      switch text {
      case "(", "[", "{", "<": open += 1
      // The end of an arrow closes nothing.
      case ">" where tokens[index - 1].text == "-": break
      case ")", "]", "}", ">": open -= 1
      default: break
      }
      if open == 0 { return (labels, index) }
      isNext = open == 1 && (index == start || text == ",")
    }
    return (labels, tokens.count)
  }
}
