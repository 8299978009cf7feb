/// The tiers of tests, and what chooses suites by their tier.
extension Project {
  static let tiers: Set = ["unit", "law", "process", "fault"]

  /// Each suite says its tier in its first line, where `Scripts/suites` reads it.
  static let everySuiteHasOneTier: Rule = { project in
    project.swift(under: "Tests").flatMap { file in
      file.places(of: "@", "Suite").compactMap { place in
        let words = file.tokens.drop { $0.position < place.position }.dropFirst(2).map(\.text)
        guard words.starts(with: ["(", ".", "tags", "(", "."]),
          words.dropFirst(5).first.map(tiers.contains) == true,
          words.dropFirst(6).first == ")"
        else {
          return Finding(
            path: file.path, line: place.line,
            message: "a suite opens with its tier: @Suite(.tags(.unit))")
        }
        return nil
      }
    }
  }

  /// Tests that start processes do not wait for the threads that all tests share.
  static let processesHaveOwnThreads: Rule = { project in
    project.swift(under: "Tests").flatMap { file -> [Finding] in
      guard file.places(of: ".", "ownThreads").isEmpty else { return [] }
      return file.places(of: "processExitsWith").map { place in
        Finding(
          path: file.path, line: place.line,
          message: "a test that starts a process has the trait .ownThreads")
      }
    }
  }
}
