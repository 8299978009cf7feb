internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct SchemaValidationTests {
  @Test func soundModelsHaveNoProblems() {
    #expect(SchemaValidation(SchemaSamples.all).problems == [])
  }

  @Test func everyProblemIsNamed() {
    func model(_ name: String, _ change: (inout ModelSchema) -> Void) -> ModelSchema {
      var model = ModelSchema(
        name: name, fields: [FieldSchema(name: "id", type: .integer, isRowID: true)], key: ["id"])
      change(&model)
      return model
    }
    let models = [
      model("A") { $0.fields.append(FieldSchema(name: "ID", column: "Id", type: .text)) },
      model("A") { $0.table = "a" },
      model("B") { $0.table = "_MS_models" },
      model("C") { $0.key = [] },
      model("D") { $0.key = ["id", "id", "x"] },
      model("E") { $0.fields[0].isOptional = true },
      model("F") { $0.uniques = [[], ["y"]] },
      model("G") { $0.indexes = [IndexSchema(name: "sqlite_i", fields: ["z"])] },
      model("H") { $0.fields[0].defaultSQL = "1; DROP TABLE H" },
      model("I") { $0.rules = [RuleSchema(name: "r", message: "", condition: "1) --")] },
      model("J") { $0.rules = [RuleSchema(name: "r", message: "", condition: "1")] },
      model("K") { $0.fields[0].generated = .stored },
      model("M") { $0.fields[0].defaultSQL = "'open" },
      model("L") { $0.fields.append(FieldSchema(name: "id", column: "", type: .text)) },
    ]
    #expect(
      SchemaValidation(models).problems == [
        "A.ID: another field already uses the column Id.",
        "Two models are called A.",
        "A: another model already uses the table a.",
        "B: table names must not begin with sqlite_ or _ms_; _MS_models does.",
        "C has no key.",
        "D: a field is in the key twice.",
        "D: the key names x, which does not exist.",
        "E.id is in the key, so it must not be optional.",
        "F: a unique set names no field.",
        "F: a unique set names y, which does not exist.",
        "G: an index may not be called sqlite_i.",
        "G: the index sqlite_i names z, which does not exist.",
        "H.id: the default holds a semicolon.",
        "I: the rule r closes a parenthesis that it did not open.",
        "J: the rule name r is used twice.",
        "K.id is computed by SQLite, which only an adopted table can declare.",
        "M.id: the default leaves a quote open.",
        "L: a field's name is empty or has a NUL in it.",
        "L.id is declared twice.",
      ])
  }
}
