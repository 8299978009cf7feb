/// Something the file says about itself under a name: a model, a binding, a validator.
package protocol CatalogEntry: Hashable, Sendable, Codable {
  var name: String { get }
}

extension ModelSchema: CatalogEntry {}

extension BindingSchema: CatalogEntry {}

/// A validator's place in the catalog: what it is called and which models it watches. What it
/// checks is Swift, so another program can only know that it exists.
package struct ValidatorSchema: CatalogEntry {
  package let name: String
  package let model: String
  /// Those after the first; nil for none.
  package var otherModels: [String]?

  package init(name: String, model: String) {
    self.name = name
    self.model = model
  }

  /// - Precondition: There is at least one model.
  package init(name: String, models: [String]) {
    self.name = name
    model = models[0]
    otherModels = models.count > 1 ? Array(models.dropFirst()) : nil
  }

  package var models: [String] { [model] + (otherModels ?? []) }
}
