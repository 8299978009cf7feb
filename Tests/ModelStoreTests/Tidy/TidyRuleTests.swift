import Testing

/// Every rule of the house finds what it is for, and only that.
@Suite(.tags(.unit)) struct TidyRuleTests {
  struct Planted: Sendable, CustomTestStringConvertible {
    let rule: Project.Rule
    let texts: [String: String]
    let findings: [String]
    let testDescription: String

    init(
      _ description: String, _ rule: @escaping Project.Rule, _ texts: [String: String],
      _ findings: [String]
    ) {
      testDescription = description
      self.rule = rule
      self.texts = texts
      self.findings = findings
    }
  }

  @Test(arguments: code + sizes + comments + documents)
  func findsWhatWasPlanted(planted: Planted) {
    #expect(planted.rule(Project(texts: planted.texts)).map(\.description) == planted.findings)
  }

  private static let code = [
    Planted(
      "C outside SQLite/", Project.cInOneFolder,
      [
        "Sources/ModelStore/SQLite/A.swift": "internal import CSQLite\nlet a = sqlite3_open",
        "Sources/ModelStore/Catalog/B.swift": "internal import CSQLite\n// sqlite3_open",
        "Sources/SchemaCompiler/C.swift": "let a = \"sqlite3_step\"\nlet b = sqlite3_step",
      ],
      [
        "Sources/ModelStore/Catalog/B.swift:1: only SQLite/ imports CSQLite",
        "Sources/SchemaCompiler/C.swift:2: only SQLite/ calls sqlite3_step",
      ]),
    Planted(
      "a lower layer names a higher one", Project.lowerNeverNamesHigher,
      [
        "Sources/ModelStore/Store.swift": "public final class Store {}",
        "Sources/SchemaCompiler/StoreError.swift": "public struct StoreError {}",
        "Sources/ModelStore/Queries/Query.swift": "public struct Query {}",
        "Sources/ModelStore/Observation/Live/Live.swift":
          "struct Live { let a: Query, b: StoreError }\nstruct Later { let a: Store }",
        "Sources/ModelStore/Catalog/Plan.swift":
          "// Query\nstruct Plan { let a: [Query]? }\nstruct Live2 { struct Live {}; let a: Live }",
      ],
      [
        "Sources/ModelStore/Catalog/Plan.swift:2: Catalog/ names Query, which is Queries/'s",
        "Sources/ModelStore/Observation/Live/Live.swift:2: Observation/ names Store, which is the store's",
      ]),
    Planted(
      "a lower layer names a member that a higher one adds", Project.lowerNeverNamesHigher,
      [
        "Sources/ModelStore/SQLite/Row.swift": """
        struct Row { func size() { drift(of: self); _ = wait; let later = 1; later() } }
        let found = row.plan + "\\(rows.own)" + rows.size() + rows.count + facts.problems
        """,
        "Sources/ModelStore/Journal/Row+Plan.swift": """
        extension Row {
          var plan: Int { 1 }
          private var count: Int { 1 }
          static func drift(of row: Row) {}
          func wait() { func size() {} }
          func later() {}
        }
        """,
        "Sources/ModelStore/Engine/Writer/Row+Own.swift": "extension [Row] { var own: Int { 1 } }",
        "Sources/ModelStore/Engine/Facts.swift": "extension Facts { var problems: Int { 1 } }",
        "Sources/SchemaCompiler/Facts.swift": "struct Facts { let problems = 0 }",
      ],
      [
        "Sources/ModelStore/SQLite/Row.swift:1: SQLite/ names drift, which is Journal/'s",
        "Sources/ModelStore/SQLite/Row.swift:2: SQLite/ names plan, which is Journal/'s",
        "Sources/ModelStore/SQLite/Row.swift:2: SQLite/ names own, which is Engine/'s",
      ]),
    Planted(
      "a folder without a layer", Project.everyFolderIsALayer,
      ["Sources/ModelStore/Extras/A.swift": "", "Sources/ModelStore/Store.swift": ""],
      ["Sources/ModelStore/Extras/A.swift:1: Extras has no place among the layers"]),
    Planted(
      "the command line looks inside", Project.publicSurfaceOnly,
      ["Sources/StoreCommand/A.swift": "@testable import ModelStore"],
      ["Sources/StoreCommand/A.swift:1: storecli uses the public API only"]),
    Planted(
      "Foundation where its essentials serve", Project.essentialsOnly,
      [
        "Sources/A/A.swift": "import Foundation",
        "Sources/A/B.swift":
          "#if canImport(FoundationEssentials)\nimport FoundationEssentials\n#else\nimport Foundation\n#endif",
      ],
      [
        "Sources/A/A.swift:1: import FoundationEssentials where it exists, Foundation only elsewhere"
      ]),
    Planted(
      "a vague name", Project.noVagueNames,
      [
        "Sources/A/RowHelper.swift": "struct Database {}\nenum StoreManager {}",
        "Sources/A/Row+Util.swift": "struct Metadata {}\nenum Base64 {}",
      ],
      [
        "Sources/A/Row+Util.swift:1: the file's name says Util",
        "Sources/A/RowHelper.swift:1: the file's name says Helper",
        "Sources/A/RowHelper.swift:2: the type StoreManager says Manager",
      ]),
    Planted(
      "a swallowed error", Project.nothingSwallowed,
      [
        "Sources/A/A.swift": """
        let a = try? f()
        let b = try! f()
        let c = x as! Int
        fatalError("no")
        do { try f() } catch {}
        do { try f() } catch is Never {
          // It cannot.
        }
        let d = "try? \\(try g())"
        let e = try !f()
        """
      ],
      [
        "Sources/A/A.swift:1: try? drops an error",
        "Sources/A/A.swift:2: try! crashes on an error",
        "Sources/A/A.swift:3: as! crashes without a sentence",
        "Sources/A/A.swift:4: fatalError hides which rule was broken",
        "Sources/A/A.swift:5: an empty catch drops an error",
      ]),
    Planted(
      "printing", Project.libraryIsSilent,
      ["Sources/ModelStore/A.swift": "print(1)", "Sources/StoreCommand/A.swift": "print(1)"],
      ["Sources/ModelStore/A.swift:1: the library never calls print"]),
    Planted(
      "an unexplained unchecked conformance", Project.uncheckedSaysWhy,
      [
        "Sources/A/A.swift": "final class A: @unchecked Sendable {\n  var a = 1\n}",
        "Sources/A/B.swift": "final class B: @unchecked Sendable {\n  // Guard: the queue.\n}",
      ],
      ["Sources/A/A.swift:1: say directly below what guards the state: // Guard: …"]),
    Planted(
      "a test that is no sentence", Project.testsAreSentences,
      ["Tests/A/A.swift": "import XCTest\nfunc testA() { usleep(1) }\nfunc testimonyHolds() {}"],
      [
        "Tests/A/A.swift:2: a test's name is a sentence, without test",
        "Tests/A/A.swift:1: tests are written with Swift Testing",
        "Tests/A/A.swift:2: wait on a recorder, not on a clock",
      ]),
    Planted(
      "a long line", Project.linesFitThePage,
      [
        "Sources/A/A.swift":
          "// \(String(repeating: "a", count: 98))\nlet a = \"\(String(repeating: "a", count: 98))\"\n"
          + "// https://\(String(repeating: "a", count: 98))\n// \(String(repeating: "a", count: 97))"
      ],
      ["Sources/A/A.swift:1: 101 columns, not at most 100"]),
    Planted(
      "a long file", Project.filesStayReadable,
      ["Sources/A/A.swift": String(repeating: "\n", count: 600)],
      ["Sources/A/A.swift:1: 601 lines: which second idea moved in?"]),
  ]

  private static let sizes = [
    Planted(
      "a long function", Project.functionsFitTheEye,
      [
        "Sources/A/A.swift": "func a() {\(lines(59))\n}\nfunc b() {\(lines(58))\n}",
        "Sources/A/B.swift": "@inlinable public\ninit?<A>(a: A)\n  where A: B {\(lines(58))\n}",
        "Sources/A/C.swift":
          "var a: [Int: Int]? {\(lines(59))\n}\nvar b: Int = { 1\(lines(59)) }()",
        "Sources/A/D.swift":
          "var a: Int\n{\(lines(59))\n}\nfunc b() {\nlet a = \"\"\"\(lines(59))\"\"\"\n}",
      ],
      [
        "Sources/A/A.swift:1: a: 61 lines, not at most 60",
        "Sources/A/B.swift:2: init: 61 lines, not at most 60",
        "Sources/A/C.swift:1: a: 61 lines, not at most 60",
        "Sources/A/D.swift:1: a: 62 lines, not at most 60",
        "Sources/A/D.swift:63: b: 62 lines, not at most 60",
      ]),
    Planted(
      "many parameters", Project.functionsFitTheEye,
      [
        "Sources/A/A.swift": """
        func five(a: A<B, C>, _ b: (A, B) -> C, c: [A: B] = [1: 2], d: D, e: E, f: F) {}
        func six<A, B>(a: A<B, C>, _ b: (A, B) -> C, c: [A: B], d: D, e: E, f: F = g(1, 2), g: G)
        static func < (a: A, b: B, c: C, d: D, e: E, f: F) {}
        init(a: A, b: B, c: C, d: D, e: E, f: F) {
          self.a = a
          self.b = b
        }
        init(a: A, b: B, c: C, d: D, e: E, f: F) { self.a = b }
        init(a: A, b: B, c: C, d: D, e: E, f: F) { self.init(a, b, c, d, e, f) }
        func none() { .init(a, b, c, d, e, f) }
        subscript(a: A, b: B, c: C, d: D, e: E, f: F) -> A { a }
        """
      ],
      [
        "Sources/A/A.swift:2: six: 6 parameters without a default value, not at most 5",
        "Sources/A/A.swift:3: <: 6 parameters without a default value, not at most 5",
        "Sources/A/A.swift:8: init: 6 parameters without a default value, not at most 5",
        "Sources/A/A.swift:9: init: 6 parameters without a default value, not at most 5",
        "Sources/A/A.swift:11: subscript: 6 parameters without a default value, not at most 5",
      ]),
    Planted(
      "deep nesting", Project.functionsFitTheEye,
      [
        "Sources/A/A.swift": """
        struct A { struct B { struct C {
        func four() { if a { { while b { switch c { case .d: e } } }() } }
        func five() { if a { { while b { switch c { case .d: do {} } } }() } }
        var five: Int { get { a { b { c { d {} } } } } }
        func text() { a("{{{{{ \\(b.map { $0 })") /* {{{{{ */ }
        } } }
        """
      ],
      [
        "Sources/A/A.swift:3: five: 5 braces deep, not at most 4",
        "Sources/A/A.swift:4: five: 5 braces deep, not at most 4",
      ]),
  ]

  private static func lines(_ count: Int) -> String { String(repeating: "\n  f()", count: count) }

  private static let comments = [
    Planted(
      "unfinished work", Project.noLeftovers,
      ["Sources/A/A.swift": "// TO" + "DO: later\nlet a = \"TO" + "DO\""],
      ["Sources/A/A.swift:1: unfinished work: TO" + "DO"]),
    Planted(
      "fog", Project.noFog,
      [
        "Sources/A/A.swift": "/// This " + "function adds.\n// MA"
          + "RK: - Adding\n// A simple sum."
      ],
      ["Sources/A/A.swift:1: fog: this " + "function", "Sources/A/A.swift:2: a banner"]),
    Planted(
      "a block comment", Project.noBlockComments, ["Sources/A/A.swift": "let a = 1 /* one */"],
      ["Sources/A/A.swift:1: a block comment"]),
    Planted(
      "a documented parameter that is gone", Project.documentedParametersExist,
      [
        "Sources/A/A.swift": """
        /// Adds.
        ///
        /// - Parameters:
        ///   - left: One.
        ///   - middle: Gone.
        /// - Returns: All.
        func add(_ left: Int, to right: Int) -> Int { middle }
        /// - Parameter top: Gone.
        init(bottom: Int) {}
        """
      ],
      [
        "Sources/A/A.swift:5: there is no parameter middle",
        "Sources/A/A.swift:8: there is no parameter top",
      ]),
    Planted(
      "an undocumented public name", Project.publicIsDocumented,
      [
        "Sources/A/A.swift": """
        public import B
        /// A.
        @frozen
        public struct A: P {
          public var first = 1
          /// Second.
          @inlinable
          public private(set) var second = 2
          public func third() {}
          public static func == (a: A, b: A) -> Bool { true }
          public init(row: Int) {}
          public init(column: Int) {}
        }
        /// P.
        public protocol P {
          init(row: Int)
          func third()
        }
        """
      ],
      [
        "Sources/A/A.swift:5: first has no documentation",
        "Sources/A/A.swift:12: init(column has no documentation",
      ]),
    Planted(
      "a path of somebody's machine", Project.noMachinePaths,
      ["Makefile": "cp a /ho" + "me/b/c\ncp ../ho" + "me/b"],
      ["Makefile:1: a path of somebody's machine: /ho" + "me/"]),
  ]

  private static let documents = [
    Planted(
      "a dead link", Project.linksResolve,
      [
        "README.md": """
        [a](Documentation/A.md) [b](Documentation/B.md) [c](#this-one) [d](#that-one)
        [e](https://sqlite.org) [f](Documentation/A.md#below) <doc:Nowhere>
        ## This one
        ```text
        [g](nothing)
        ```
        """,
        "Documentation/A.md": "## Below\n[up](../README.md) [in](A.md)",
      ],
      [
        "README.md:1: nothing at Documentation/B.md", "README.md:1: no heading #that-one",
        "README.md:2: no article doc:Nowhere",
      ]),
    Planted(
      "code that is compiled nowhere", Project.codeComesFromBuiltFiles,
      [
        "README.md": "```swift\nlet a = 1\n\nlet b = 2\n```\n```swift\nlet a = 1\nlet b = 2\n```",
        "Examples/A.swift": "func f() {\n  let a = 1\n\n  let b = 2\n}",
      ],
      ["README.md:6: this code stands in no file of Examples"]),
    Planted(
      "a type that is gone", Project.namedTypesExist,
      [
        "ARCHITECTURE.md":
          "`Writer`, `Reader.next()`, `Gone.swift`, `Folder/`, `WAL`, `Mailbox<T>`, ``Writer/gone``",
        "Sources/A/A.swift": "struct Writer {}",
      ],
      [
        "ARCHITECTURE.md:1: there is no Reader in the code",
        "ARCHITECTURE.md:1: there is no Mailbox in the code",
      ]),
    Planted(
      "another version", Project.versionIsTheSame,
      [
        "Sources/StoreCommand/Commands/VersionCommand.swift": "  static let number = \"1.2.3\"",
        "CHANGELOG.md": "# Changelog\n\n## 1.2.2\n", "README.md": "from: \"1.2.3\"",
      ],
      ["CHANGELOG.md:1: is not about version 1.2.3"]),
    Planted(
      "an incomplete decision", Project.decisionsAreComplete,
      [
        "Documentation/Decisions/0002-a.md":
          "## Context\n## Decision\n## Consequences\n"
      ],
      [
        "Documentation/Decisions/0002-a.md:1: its number should be 0001-",
        "Documentation/Decisions/0002-a.md:1: has no section What we turned down",
      ]),
    Planted(
      "an unknown invariant", Project.invariantsAreNumbered,
      [
        "ARCHITECTURE.md": "- **I1** One.\n- **I3** Three.",
        "Sources/A/A.swift": "// I1 holds, and I9.",
      ],
      ["ARCHITECTURE.md:2: expected I2", "Sources/A/A.swift:1: there is no invariant I9"]),
    Planted(
      "a suite without one tier", Project.everySuiteHasOneTier,
      [
        "Tests/A/A.swift": """
        @Suite(.tags(.unit)) struct One {}
        @MainActor @Suite(
          .tags(.law), .serialized)
        struct Two {}
        @Suite struct Three {}
        @Suite(.serialized) struct Four {}
        @Suite(.tags(.slow)) struct Five {}
        @Suite(.tags(.unit, .law)) struct Six {}
        """
      ],
      [5, 6, 7, 8].map {
        "Tests/A/A.swift:\($0): a suite opens with its tier: @Suite(.tags(.unit))"
      }
    ),
    Planted(
      "a process without threads of its own", Project.processesHaveOwnThreads,
      [
        "Tests/A/A.swift":
          "@Test func one() async { await #expect(processExitsWith: .success) {} }",
        "Tests/A/B.swift":
          "@Test(.ownThreads) func two() async { await #expect(processExitsWith: .success) {} }",
      ],
      ["Tests/A/A.swift:1: a test that starts a process has the trait .ownThreads"]),
    Planted(
      "an unexplained id", Project.acceptanceIsExplained,
      [
        "Documentation/Acceptance.md":
          "| P1 | a | |\n| P1 | a | |\n| P2 | b | |\n## Not covered by a test\n| P3 | c | |\n| P4 | d | |",
        "Tests/A/ATests.swift": "@Test(\"P1 P4 P5 holds\") func holds() {}",
      ],
      [
        "Documentation/Acceptance.md:2: explains P1 a second time",
        "Documentation/Acceptance.md:3: no test carries P2",
        "Documentation/Acceptance.md:6: a test carries P4",
        "Tests/A/ATests.swift:1: Documentation/Acceptance.md does not explain P5",
      ]),
    Planted(
      "a changelog that does not begin with a version", Project.changelogOpensWithTheNextVersion,
      ["CHANGELOG.md": "# Changes\n\n## Next\n"],
      ["CHANGELOG.md:3: the first entry is neither Unreleased nor a version"]),
  ]
}
