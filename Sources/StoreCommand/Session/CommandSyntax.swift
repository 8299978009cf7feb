import ArgumentParser
import RecordFormats

/// The options and positional words of a command, as the parser describes them.
struct CommandSyntax {
  /// What may stand in a place.
  struct Place {
    /// `--sort` and its other spellings; empty for a positional word.
    let names: [String]
    let isFlag: Bool
    let isRepeating: Bool
    /// The values, where they are a fixed list.
    let values: [String]
    /// Whether the program itself completes it.
    let isCompleted: Bool
  }

  private(set) var options: [Place] = []
  private(set) var positionals: [Place] = []

  /// - Throws: ``InputError`` if the parser's description cannot be read.
  init(of command: any LeafCommand.Type) throws {
    var rest = Array(command._dumpHelp().utf8)[...]
    let source = ByteSource { buffer throws(InputError) in
      let chunk = rest.prefix(buffer.count)
      buffer.copyBytes(from: chunk)
      rest = rest.dropFirst(chunk.count)
      return chunk.count
    }
    var reader = JSONRecordReader(source: source, framing: .array)
    let arguments = try reader.readRecord()?["command"]?["arguments"]
    for argument in arguments?.elements ?? [] {
      let place = Place(argument)
      if argument["kind"]?.text == "positional" {
        positionals.append(place)
      } else {
        options.append(place)
      }
    }
  }

  func option(_ name: String) -> Place? { options.first { $0.names.contains(name) } }

  /// How many of the words behind the command's name are neither options nor their values.
  func positionalCount(in words: [String]) -> Int {
    var count = 0
    var isValue = false
    var isTerminated = false
    for word in words {
      if isValue {
        isValue = false
      } else if isTerminated || !word.hasPrefix("-") {
        count += 1
      } else if word == "--" {
        isTerminated = true
      } else {
        isValue = option(word).map { !$0.isFlag } ?? false
      }
    }
    return count
  }

  /// The positional place of the word behind `count` others.
  func positional(behind count: Int) -> (index: Int, place: Place)? {
    if positionals.indices.contains(count) { return (count, positionals[count]) }
    guard let last = positionals.last, last.isRepeating else { return nil }
    return (positionals.count - 1, last)
  }
}

extension CommandSyntax.Place {
  fileprivate init(_ argument: JSONValue) {
    names = (argument["names"]?.elements ?? []).compactMap { name in
      name["name"]?.text.map { ($0.count == 1 ? "-" : "--") + $0 }
    }
    isFlag = argument["kind"]?.text == "flag"
    if case .boolean(true) = argument["isRepeating"] {
      isRepeating = true
    } else {
      isRepeating = false
    }
    values = (argument["allValues"]?.elements ?? []).compactMap(\.text)
    isCompleted = argument["completionKind"]?["custom"] != nil
  }
}

extension JSONValue {
  /// The member called `name` of an object.
  fileprivate subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  fileprivate var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
