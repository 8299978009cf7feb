/// A named entry of the file's catalog: a model, a binding or a validator.
package protocol CatalogEntry: Hashable, Sendable, Codable {
  var name: String { get }
}

extension ModelSchema: CatalogEntry {}

extension BindingSchema: CatalogEntry {}

/// A validator's entry in the catalog: its name and the models it checks. Its code is Swift, so
/// another program can only know that it exists.
package struct ValidatorSchema: CatalogEntry {
  package let name: String
  package let model: String
  /// The models after the first; nil for none.
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
