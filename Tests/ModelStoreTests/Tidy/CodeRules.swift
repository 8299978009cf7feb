/// Rules about what Swift code says.
extension Project {
  typealias Rule = @Sendable (Project) -> [Finding]

  static let cInOneFolder: Rule = { project in
    project.swift(under: "Sources")
      .filter { $0.folder != "Sources/ModelStore/SQLite" }
      .flatMap { file in
        file.places(of: "import", "CSQLite").map {
          Finding(path: file.path, line: $0.line, message: "only SQLite/ imports CSQLite")
        }
          + file.tokens.filter { $0.text.hasPrefix("sqlite3_") }.map {
            Finding(path: file.path, line: $0.line, message: "only SQLite/ calls \($0.text)")
          }
      }
  }

  static let publicSurfaceOnly: Rule = { project in
    project.swift(under: "Sources/StoreCommand").flatMap { file in
      file.places(of: "@", "testable").map {
        Finding(path: file.path, line: $0.line, message: "storecli uses the public API only")
      }
    }
  }

  static let essentialsOnly: Rule = { project in
    project.swift(under: "Sources").compactMap { file in
      guard let place = file.places(of: "import", "Foundation").first,
        file.places(of: "import", "FoundationEssentials").isEmpty
      else { return nil }
      return Finding(
        path: file.path, line: place.line,
        message: "import FoundationEssentials where it exists, Foundation only elsewhere")
    }
  }

  // Names

  static let bannedNames: Set<String> = [
    "Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Utilities", "Base", "Impl", "Info",
    "Data", "Common", "Misc",
  ]

  static let noVagueNames: Rule = { project in
    project.swift.flatMap { file in
      let stem = file.name.split(separator: ".").first.map(String.init) ?? ""
      let files = words(of: stem).filter(bannedNames.contains).map {
        Finding(path: file.path, line: 1, message: "the file's name says \($0)")
      }
      let kinds: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
      let types = file.tokens.indices.dropLast().compactMap { index -> Finding? in
        guard kinds.contains(file.tokens[index].text) else { return nil }
        let name = file.tokens[index + 1]
        guard let word = words(of: name.text).first(where: bannedNames.contains) else { return nil }
        return Finding(
          path: file.path, line: name.line, message: "the type \(name.text) says \(word)")
      }
      return files + types
    }
  }

  /// `SQLRowInfo+Topic` as `SQLRow`, `Info`, `Topic`: cut before each capital after a small letter.
  private static func words(of name: String) -> [String] {
    var words: [String] = [""]
    var previous: Character = "A"
    for character in name {
      if !character.isLetter, !character.isNumber {
        words.append("")
      } else {
        if character.isUppercase, previous.isLowercase { words.append("") }
        words[words.count - 1].append(character)
      }
      previous = character
    }
    return words
  }

  // Errors

  static let nothingSwallowed: Rule = { project in
    project.swift(under: "Sources").flatMap { file in
      func found(_ message: String, _ places: [SourceText.Token]) -> [Finding] {
        places.map { Finding(path: file.path, line: $0.line, message: message) }
      }
      return found("try? drops an error", file.places(of: "try", followedBy: "?"))
        + found("try! crashes on an error", file.places(of: "try", followedBy: "!"))
        + found("as! crashes without a sentence", file.places(of: "as", followedBy: "!"))
        + found("fatalError hides which rule was broken", file.places(of: "fatalError"))
        + found("an empty catch drops an error", emptyCatches(in: file))
    }
  }

  /// A catch without statements, unless a comment in it says why.
  private static func emptyCatches(in file: SourceText) -> [SourceText.Token] {
    file.tokens.indices.compactMap { index in
      guard file.tokens[index].text == "catch",
        let open = file.tokens[index...].firstIndex(where: { $0.text == "{" }),
        open + 1 < file.tokens.count, file.tokens[open + 1].text == "}"
      else { return nil }
      let isExplained = file.comments.contains {
        ($0.line >= file.tokens[open].line) && ($0.line <= file.tokens[open + 1].line)
      }
      return isExplained ? nil : file.tokens[index]
    }
  }

  static let libraryIsSilent: Rule = { project in
    project.library.flatMap { file in
      ["print", "debugPrint", "dump"].flatMap { name in
        file.places(of: name, "(").map {
          Finding(path: file.path, line: $0.line, message: "the library never calls \(name)")
        }
      }
    }
  }

  // Concurrency

  static let uncheckedSaysWhy: Rule = { project in
    project.swift(under: "Sources").flatMap { file in
      file.places(of: "@", "unchecked", "Sendable").compactMap { place in
        // The guard's line follows the one that opens the type's body.
        let open = file.tokens.first { $0.text == "{" && $0.line >= place.line }
        let next = (open?.line ?? place.line) + 1
        let explained = file.comments.contains {
          $0.line == next && !$0.isDocumentation && $0.text.hasPrefix(" Guard:")
        }
        return explained
          ? nil
          : Finding(
            path: file.path, line: place.line,
            message: "say directly below what guards the state: // Guard: …")
      }
    }
  }

  /// How often words that switch off checks of the compiler occur in the library and its tools.
  var looksAway: [String: Int] {
    let sources = swift(under: "Sources")
    func count(_ places: (SourceText) -> [SourceText.Token]) -> Int {
      sources.map { places($0).count }.reduce(0, +)
    }
    func pointers(_ isCounted: (String) -> Bool) -> Int {
      count { file in
        isCounted(file.folder)
          ? file.tokens.filter { $0.text.hasPrefix("Unsafe") || $0.text == "OpaquePointer" } : []
      }
    }
    return [
      "@unchecked Sendable": count { $0.places(of: "@", "unchecked", "Sendable") },
      "nonisolated(unsafe)": count { $0.places(of: "nonisolated", "(", "unsafe", ")") },
      "unowned": count { $0.places(of: "unowned") },
      "Unmanaged": count { $0.places(of: "Unmanaged") },
      "unsafeBitCast": count { $0.places(of: "unsafeBitCast") },
      "Task.detached": count { $0.places(of: "Task", ".", "detached") },
      "@_ attributes": count { file in
        file.tokens.indices.dropFirst().compactMap { index in
          file.tokens[index - 1].text == "@" && file.tokens[index].text.hasPrefix("_")
            ? file.tokens[index] : nil
        }
      },
      "Unsafe pointers in the library above SQLite/": pointers {
        $0.hasPrefix("Sources/ModelStore/") && $0 != "Sources/ModelStore/SQLite"
          || $0.hasPrefix("Sources/SchemaCompiler")
      },
      "Unsafe pointers in the command line": pointers { $0.hasPrefix("Sources/StoreCommand") },
      "Unsafe pointers in the formats": pointers { $0.hasPrefix("Sources/RecordFormats") },
    ]
  }

  // Tests

  static let testsAreSentences: Rule = { project in
    project.swift(under: "Tests").flatMap { file in
      func found(_ message: String, _ places: [SourceText.Token]) -> [Finding] {
        places.map { Finding(path: file.path, line: $0.line, message: message) }
      }
      let names = file.tokens.indices.dropFirst().compactMap { index -> SourceText.Token? in
        file.tokens[index - 1].text == "func" && isTestName(file.tokens[index].text)
          ? file.tokens[index] : nil
      }
      return found("a test's name is a sentence, without test", names)
        + found("tests are written with Swift Testing", file.places(of: "import", "XCTest"))
        + found("wait on a recorder, not on a clock", sleeps(in: file))
    }
  }

  /// `testFoo` and `test2`, but not `testimony`.
  private static func isTestName(_ name: String) -> Bool {
    guard name.hasPrefix("test") else { return false }
    guard let next = name.dropFirst(4).first else { return true }
    return next.isUppercase || next.isNumber
  }

  private static func sleeps(in file: SourceText) -> [SourceText.Token] {
    ["sleep", "usleep", "nanosleep"].flatMap { file.places(of: $0, "(") }
  }

  // Size

  /// The formatter breaks lines of code; texts and addresses it cannot break may be longer.
  static let linesFitThePage: Rule = { project in
    project.swift.flatMap { file in
      file.lines.enumerated().compactMap { index, line in
        guard line.count > 100, !line.contains("\""), !line.contains("://") else { return nil }
        // The inside of a text of several lines is the text's business.
        let isCode = file.tokens.contains { $0.line == index + 1 }
        let isComment = file.comments.contains { $0.line == index + 1 }
        guard isCode || isComment else { return nil }
        return Finding(
          path: file.path, line: index + 1, message: "\(line.count) columns, not at most 100")
      }
    }
  }

  static let filesStayReadable: Rule = { project in
    project.swift.compactMap { file in
      guard file.lines.count > 600 else { return nil }
      return Finding(
        path: file.path, line: 1, message: "\(file.lines.count) lines: which second idea moved in?")
    }
  }
}
