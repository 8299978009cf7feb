enum BindingTriggers { static func bindingName(ofTrigger n: String) -> String? { nil } }
public struct Binding: Sendable {}
extension StoreCore { func declare(models: [ModelSchema], bindings: [Binding], validators: [Validator]) throws {} }
