/// One binding as a plain value: which field follows what. It stands in the file's catalog as
/// JSON; the triggers that keep it are derived from it and from the models.
///
/// A bound field is not for writing: whatever a writer puts there is put right again in the same
/// statement. To declare a binding use ``Binding``.
public struct BindingSchema: Hashable, Sendable, Codable {
  /// One field of one model, by name.
  public struct Field: Hashable, Sendable, Codable, CustomStringConvertible {
    public var model: String
    public var field: String

    public init(model: String, field: String) {
      self.model = model
      self.field = field
    }

    public var description: String { "\(model).\(field)" }
  }

  /// What the field is kept equal to.
  public enum Formula: Hashable, Sendable, Codable {
    /// A field of the record that the target's field `through` refers to.
    ///
    /// Where the reference is NULL or names no record, the target holds its declared default, or
    /// NULL when it has none. A target that has no default and takes no NULL keeps its last value
    /// until its reference names a record again; its reference may therefore not be optional.
    case copy(source: Field, through: String)
    /// A deterministic SQL expression over columns of the same record.
    case derive(sql: String)
  }

  /// Unique among the store's bindings, upper and lower case alike. Events name it as their origin.
  public var name: String
  /// The field that follows.
  public var target: Field
  public var formula: Formula

  /// - Parameter name: The target, as `Album.artistName`, when nil.
  public init(name: String? = nil, target: Field, formula: Formula) {
    self.name = name ?? target.description
    self.target = target
    self.formula = formula
  }
}

extension BindingSchema: CustomStringConvertible {
  /// The formula for people: `Album.artistName = Artist.name through Album.artistID`.
  public var description: String {
    switch formula {
    case .copy(let source, let reference):
      "\(target) = \(source) through \(target.model).\(reference)"
    case .derive(let sql):
      "\(target) = \(sql)"
    }
  }
}
