internal import Testing

@Suite(.tags(.unit)) struct ModelRefusalTests {
  @Test func aClassIsRefused() {
    expectRefusal(
      of: "@Model final class Album { var id: Int64\n}",
      leaving: "final class Album { var id: Int64\n}",
      column: 14, "a model is a value; write 'struct Album'", remedy: "write 'struct'",
      fixed: "@Model struct Album { var id: Int64\n}")
  }

  @Test func anActorIsRefused() {
    expectRefusal(
      of: "@Model actor Album { var id: Int64\n}", leaving: "actor Album { var id: Int64\n}",
      column: 8, "a model is a value; write 'struct Album'", remedy: "write 'struct'",
      fixed: "@Model struct Album { var id: Int64\n}")
  }

  @Test func anEnumIsRefused() {
    expectRefusal(
      of: "@Model enum Album { case first\n}", leaving: "enum Album { case first\n}",
      column: 8, "a model is a value; write 'struct Album'")
  }

  @Test func aGenericStructIsRefused() {
    expectRefusal(
      of: "@Model struct Box<Element> { var id: Int64\n}",
      leaving: "struct Box<Element> { var id: Int64\n}", column: 18,
      "a model cannot be generic, because it is one table; write a struct of its own for each use "
        + "of 'Box'")
  }

  @Test func aModelInAGenericTypeIsRefused() {
    expectRefusal(
      of: "struct Outer<Element> { @Model struct Album { var id: Int64\n}\n}",
      leaving: "struct Outer<Element> { struct Album { var id: Int64\n}\n}", column: 39,
      "a model cannot be inside a generic type, because it is one table; move 'Album' out of it")
  }

  @Test func aPrivateNestedStructIsRefused() {
    expectRefusal(
      of: "enum Music { @Model private struct Album { var id: Int64\n}\n}",
      leaving: "enum Music { private struct Album { var id: Int64\n}\n}", column: 21,
      "'private' hides a nested model from its own conformance; write 'fileprivate struct Album'",
      remedy: "write 'fileprivate'",
      fixed: "enum Music { @Model fileprivate struct Album { var id: Int64\n}\n}")
  }

  @Test func aModelWithoutAKeyIsRefused() {
    expectRefusal(
      of: """
        @Model
        struct Album {
          var title: String
        }
        """,
      leaving: """
        struct Album {
          var title: String
        }
        """, line: 2, column: 8,
      "'Album' has no key; add 'var id: Int64', or write @Key before the properties that identify "
        + "a record",
      remedy: "add 'var id: Int64'",
      fixed: """
        @Model
        struct Album {
          var id: Int64
          var title: String
        }
        """)
  }

  @Test func anEmptyModelIsRefused() {
    expectRefusal(
      of: "@Model struct Album {}", leaving: "struct Album {}", column: 15,
      "'Album' has no key; add 'var id: Int64', or write @Key before the properties that identify "
        + "a record",
      remedy: "add 'var id: Int64'", fixed: "@Model struct Album { var id: Int64 }")
  }

  @Test(arguments: ["Int64?", "Int64!", "Optional<Int64>"])
  func anOptionalKeyIsRefused(type: String) {
    expectRefusal(
      of: "@Model struct Album { @Key var number: \(type)\n}",
      leaving: "struct Album { var number: \(type)\n}", column: 40,
      "the key 'number' cannot be optional, because many records could lack it; "
        + "write 'number: Int64'",
      remedy: "write 'Int64'", fixed: "@Model struct Album { @Key var number: Int64\n}")
  }

  @Test(arguments: [
    ("struct Draft {}", 32, "Draft"), ("enum Key {}", 30, "Key"),
    ("typealias Key = Int", 35, "Key"), ("static let definition = 1", 36, "definition"),
    ("static var tableName = \"\"", 36, "tableName"),
    ("var key: Int64 { id }", 29, "key"),
  ])
  func aNameThatTheMacroNeedsIsRefused(member: String, column: Int, name: String) {
    expectRefusal(
      of: "@Model struct A { var id: Int; \(member)\n}",
      leaving: "struct A { var id: Int; \(member)\n}",
      column: column + 7,
      "@Model declares '\(name)' itself; give this declaration another name")
  }

  @Test func aFieldCalledKeyThatIsNotTheKeyIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; var key: String\n}",
      leaving: "struct A { var id: Int; var key: String\n}", column: 36,
      "'key' is the record's key; rename the property, and keep its column with "
        + "@Column(name: \"key\")")
  }

  @Test func aFieldDeclaredTwiceIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; var id: String\n}",
      leaving: "struct A { var id: Int; var id: String\n}", column: 36,
      "'id' is declared twice; remove or rename one of the properties")
  }

  @Test func aColumnUsedTwiceIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Column(name: \"ID\") var other: String\n}",
      leaving: "struct A { var id: Int; var other: String\n}", column: 46,
      "the column 'ID' belongs to 'id' already; SQLite does not distinguish upper from lower case in "
        + "names; choose another with @Column(name:)")
  }

  @Test func twoColumnsThatDifferInCaseAreRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; var name: String; var Name: String\n}",
      leaving: "struct A { var id: Int; var name: String; var Name: String\n}", column: 54,
      "the column 'Name' belongs to 'name' already; SQLite does not distinguish upper from lower case in "
        + "names; choose another with @Column(name:)")
  }
}
