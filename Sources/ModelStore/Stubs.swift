struct ConditionEvaluator: Sendable { init?(_ c: Condition, schema: ModelSchema) {}; func callAsFunction(_ v: [SQLValue]) -> Bool? { true } }
enum BindingTriggers { static func bindingName(ofTrigger n: String) -> String? { nil } }
public struct Binding: Sendable {}
extension StoreCore { func declare(models: [ModelSchema], bindings: [Binding], validators: [Validator]) throws {} }
