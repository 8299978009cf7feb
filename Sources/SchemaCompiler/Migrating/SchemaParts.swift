/// The parts of a schema by what they are, for people: `the column Member.email`. The letters of
/// names count as SQLite compares them.
package struct SchemaParts {
  /// By folded name.
  private var parts: [String: (name: String, content: AnyHashable)] = [:]

  package init() {}

  package subscript(name: String) -> AnyHashable? {
    get { parts[name.asciiFolded]?.content }
    set { parts[name.asciiFolded] = newValue.map { (name, $0) } }
  }

  /// Returns the names of the parts that only one of the two has, or that differ; in order.
  package func differences(from other: SchemaParts) -> [String] {
    let all = other.parts.merging(parts) { _, own in own }
    return all.filter { key, _ in parts[key]?.content != other.parts[key]?.content }
      .map(\.value.name).sorted()
  }
}
