internal import Testing

@Suite(.tags(.unit)) struct FieldRefusalTests {
  @Test(arguments: [
    ("\"\"", "String"), ("1", "Int"), ("0.5", "Double"), ("true", "Bool"), ("UUID()", "UUID"),
    ("makeTitle()", "<#Type#>"),
  ])
  func aFieldWithoutItsTypeIsRefused(value: String, type: String) {
    expectRefusal(
      of: "@Model struct A { var id: Int; var title = \(value)\n}",
      leaving: "struct A { var id: Int; var title = \(value)\n}", column: 36,
      "a field needs its type written out; write 'title: \(type)'", remedy: "add ': \(type)'",
      fixed: "@Model struct A { var id: Int; var title: \(type) = \(value)\n}")
  }

  @Test func aKeyWithoutItsTypeIsRefusedOnce() {
    expectRefusal(
      of: "@Model struct A { var id = 0\n}", leaving: "struct A { var id = 0\n}", column: 23,
      "a field needs its type written out; write 'id: Int'", remedy: "add ': Int'",
      fixed: "@Model struct A { var id: Int = 0\n}")
  }

  @Test func aTupleOfNamesIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; var (x, y): (Int, Int)\n}",
      leaving: "struct A { var id: Int; var (x, y): (Int, Int)\n}", column: 36,
      "a field has one name; declare each property on a line of its own")
  }

  @Test func aLazyPropertyIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; lazy var slug: String = \"\"\n}",
      leaving: "struct A { var id: Int; lazy var slug: String = \"\"\n}", column: 32,
      "a lazy property cannot be a field, because a record is read whole; write 'var slug' without "
        + "'lazy', or compute it",
      remedy: "remove 'lazy'", fixed: "@Model struct A { var id: Int; var slug: String = \"\"\n}")
  }

  @Test func aConstantWithAValueIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; let format: Int = 2\n}",
      leaving: "struct A { var id: Int; let format: Int = 2\n}", column: 32,
      "'let format' has its value already and cannot be read from a record; write 'var format', or "
        + "'static let format' if it is not a field",
      remedy: "write 'var'", fixed: "@Model struct A { var id: Int; var format: Int = 2\n}")
  }

  @Test func aFieldUnderAConditionIsRefused() {
    expectRefusal(
      of: """
        @Model
        struct A {
          var id: Int
          #if DEBUG
          var trace: String
          #endif
        }
        """,
      leaving: """
        struct A {
          var id: Int
          #if DEBUG
          var trace: String
          #endif
        }
        """, line: 5, column: 3,
      "a stored property inside #if would change the table from build to build; move it out of #if")
  }

  @Test func anAttributeOnAComputedPropertyIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Validate(.notBlank) var slug: String { \"\" }\n}",
      leaving: "struct A { var id: Int; var slug: String { \"\" }\n}", column: 32,
      "@Validate needs a stored property, because only those are kept; remove @Validate",
      remedy: "remove '@Validate(.notBlank)'",
      fixed: "@Model struct A { var id: Int; var slug: String { \"\" }\n}")
  }

  @Test func anAttributeOnAStaticPropertyIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Unique static var slug: String = \"\"\n}",
      leaving: "struct A { var id: Int; static var slug: String = \"\"\n}", column: 32,
      "@Unique needs a stored property, because only those are kept; remove @Unique",
      remedy: "remove '@Unique'",
      fixed: "@Model struct A { var id: Int; static var slug: String = \"\"\n}")
  }

  @Test func anAttributeOutsideAModelIsRefused() {
    expectRefusal(
      of: "struct A { @Key var id: Int\n}", leaving: "struct A { var id: Int\n}", column: 12,
      "@Key belongs to a stored property in the body of a @Model struct; remove @Key",
      remedy: "remove '@Key'", fixed: "struct A { var id: Int\n}")
  }

  @Test func anAttributeWrittenTwiceIsRefused() {
    expectRefusal(
      of: "@Model struct A { @Key @Key var id: Int\n}", leaving: "struct A { var id: Int\n}",
      column: 24, "@Key is written twice; remove one of them", remedy: "remove '@Key'",
      fixed: "@Model struct A { @Key var id: Int\n}")
  }

  @Test func validateWithoutARuleIsRefused() {
    expectRefusal(
      of: "@Model struct A { @Validate var id: Int\n}", leaving: "struct A { var id: Int\n}",
      column: 19, "@Validate needs a rule; write for example '@Validate(.notBlank)'")
  }

  @Test func aReferenceToNoModelIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Reference(\"Album\") var albumID: Int\n}",
      leaving: "struct A { var id: Int; var albumID: Int\n}", column: 32,
      "@Reference needs the model that it refers to; write for example '@Reference(Album.self)'")
  }

  @Test func settingNullInARequiredFieldIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Reference(B.self, onDelete: .setNull) var b: Int\n}",
      leaving: "struct A { var id: Int; var b: Int\n}", column: 78,
      "'.setNull' needs a field that can be nil; write 'b: Int?'", remedy: "write 'Int?'",
      fixed: "@Model struct A { var id: Int; @Reference(B.self, onDelete: .setNull) var b: Int?\n}")
  }

  @Test(arguments: [("[Track]", "OrderedList<Track>"), ("Set<Track>", "OrderedList<<#Element#>>")])
  func orderedWithoutAListIsRefused(type: String, wanted: String) {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Ordered var tracks: \(type)\n}",
      leaving: "struct A { var id: Int; var tracks: \(type)\n}", column: 53,
      "@Ordered needs an OrderedList; write 'tracks: \(wanted)'", remedy: "write '\(wanted)'",
      fixed: "@Model struct A { var id: Int; @Ordered var tracks: \(wanted)\n}")
  }

  @Test func aListWithoutOrderedIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; private var tracks: OrderedList<Track>\n}",
      leaving: "struct A { var id: Int; private var tracks: OrderedList<Track>\n}", column: 52,
      "an OrderedList is not a column of its record; write @Ordered before it",
      remedy: "write @Ordered",
      fixed: "@Model struct A { var id: Int; @Ordered private var tracks: OrderedList<Track>\n}")
  }

  @Test func aColumnAttributeOnAListIsRefused() {
    expectRefusal(
      of: "@Model struct A { var id: Int; @Ordered @Unique var tracks: OrderedList<Track>\n}",
      leaving: "struct A { var id: Int; var tracks: OrderedList<Track>\n}", column: 41,
      "an ordered list is not a column of its record; remove @Unique", remedy: "remove '@Unique'",
      fixed: "@Model struct A { var id: Int; @Ordered var tracks: OrderedList<Track>\n}")
  }
}
