import ModelStore
import Testing

@testable import StoreCommand

/// Keys are read as they are shown.
@Suite(.tags(.unit)) struct KeyTextTests {
  private func schema(_ types: [FieldType]) -> ModelSchema {
    let fields = zip(["a", "b"], types).map { FieldSchema(name: $0, type: $1) }
    return ModelSchema(name: "T", fields: fields, key: fields.map(\.name))
  }

  private static let texts = [
    "", "x", "a=x", "b=1", "a=", "=", ",", "a=x,1", "\"", "\"x\"", "x=\"y", "x,y=\"z\"", " ", "\\",
    "null", "a=\"", "é", "e\u{301}",
  ]

  @Test func aSingleValueKeyIsReadFromItsPrintedForm() throws {
    let schema = schema([.text])
    for text in Self.texts {
      let key = [SQLValue.text(text)]
      #expect(try KeyText.parse(KeyText.text(key), for: schema) == key, "\(text)")
    }
  }

  @Test func aCompositeKeyIsReadFromItsPrintedForm() throws {
    for types in [[FieldType.text, .text], [.text, .integer], [.blob, .text]] {
      let schema = schema(types)
      for first in Self.texts {
        for second in Self.texts {
          let key = zip(types, [first, second]).map { type, text in
            switch type {
            case .integer: SQLValue.integer(Int64(text.utf8.count))
            case .blob: SQLValue.blob(Array(text.utf8))
            default: SQLValue.text(text)
            }
          }
          #expect(try KeyText.parse(KeyText.text(key), for: schema) == key, "\(key)")
        }
      }
    }
  }

  @Test func keyPartsAreNamedAllOrNone() throws {
    let schema = schema([.text, .integer])
    #expect(try KeyText.parse("b=2,a=x", for: schema) == [.text("x"), .integer(2)])
    #expect(try KeyText.parse("a=\"x,y\",b=2", for: schema) == [.text("x,y"), .integer(2)])
    #expect(try KeyText.parse("a=x,1", for: schema) == [.text("a=x"), .integer(1)])
    #expect(try KeyText.parse("a=5", for: self.schema([.integer])) == [.integer(5)])
  }

  @Test(arguments: ["\"x,1", "x,\"1", "x", "x,1,2", "a=x,a=y"])
  func aKeyOfAnotherShapeIsRefused(text: String) {
    let error = #expect(throws: CommandError.self) {
      try KeyText.parse(text, for: schema([.text, .integer]))
    }
    #expect(error?.exitCode == .usage)
  }
}
