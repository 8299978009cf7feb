import ModelStore

/// Models, references and bindings as a graph, to draw in one of two languages.
struct ModelDiagram {
  private let description: StoreDescription
  private let edges: [Edge]

  /// A line between two models.
  private struct Edge {
    enum Kind {
      case reference(isOptional: Bool, isUnique: Bool)
      case list
      case binding
    }

    let from: String
    let to: String
    let label: String
    let kind: Kind
    /// The field at which the line begins.
    let field: String?
  }

  init(_ description: StoreDescription) {
    self.description = description
    let models = description.models
    var edges: [Edge] = []
    for model in models {
      for field in model.fields {
        guard let reference = field.reference,
          let other = models.first(where: { $0.table.lowercased() == reference.table.lowercased() })
        else { continue }
        let action =
          reference.onDelete == .noAction
          ? "" : ", delete \(reference.onDelete.rawValue.lowercased())"
        let isUnique = field.isUnique || model.key == [field.name]
        edges.append(
          Edge(
            from: model.name, to: other.name, label: field.name + action,
            kind: .reference(isOptional: field.isOptional, isUnique: isUnique), field: field.name))
      }
      for list in model.lists {
        guard
          let element = models.first(where: {
            $0.table.lowercased() == list.elementTable.lowercased()
          })
        else { continue }
        edges.append(
          Edge(
            from: model.name, to: element.name, label: "list \(list.name)", kind: .list, field: nil)
        )
      }
    }
    edges += description.bindings.map { binding in
      Edge(
        from: binding.sourceModel ?? binding.target.model, to: binding.target.model,
        label: "\(binding)", kind: .binding, field: nil)
    }
    self.edges = edges
  }

  private func keyMarks(of field: FieldSchema, in model: ModelSchema) -> [String] {
    (model.key.contains(field.name) ? ["PK"] : []) + (field.reference == nil ? [] : ["FK"])
      + (field.isUnique ? ["UK"] : [])
  }

  private func place(of model: String) -> Int {
    description.models.firstIndex { $0.name == model } ?? 0
  }

  // Mermaid

  /// An entity relationship diagram:
  /// <https://mermaid.js.org/syntax/entityRelationshipDiagram.html>.
  var mermaid: String {
    var lines = ["erDiagram"]
    for (index, model) in description.models.enumerated() {
      lines.append("  m\(index)[\(Self.mermaidText(model.name))] {")
      for field in model.fields {
        let marks = keyMarks(of: field, in: model)
        let word = Self.mermaidWord(field.name)
        let remark =
          (word == field.name ? [] : [field.name]) + (field.isOptional ? ["optional"] : [])
          + field.rules.map(\.message)
        lines.append(
          "    \(field.type.rawValue) \(word)"
            + (marks.isEmpty ? "" : " " + marks.joined(separator: ", "))
            + (remark.isEmpty ? "" : " " + Self.mermaidText(remark.joined(separator: "; "))))
      }
      lines.append("  }")
    }
    for edge in edges {
      let line =
        switch edge.kind {
        case .reference(let isOptional, let isUnique):
          (isUnique ? "|o" : "}o") + "--" + (isOptional ? "o|" : "||")
        case .list: "}o--o{"
        case .binding: "||..||"
        }
      lines.append(
        "  m\(place(of: edge.from)) \(line) m\(place(of: edge.to)) : "
          + Self.mermaidText(edge.label))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A text in double quotes. Mermaid has no escapes for quotes, but reads codes of characters:
  /// <https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters>.
  static func mermaidText(_ text: String) -> String {
    let codes: [Unicode.Scalar: String] = [
      "\"": "#quot;", "#": "#35;", "%": "#37;", ";": "#59;", "\\": "#92;", "<": "#lt;",
      ">": "#gt;", "&": "#amp;",
    ]
    var result = ""
    for scalar in SwiftText.comment(text).unicodeScalars {
      if let code = codes[scalar] { result += code } else { result.unicodeScalars.append(scalar) }
    }
    return "\"\(result.isEmpty ? " " : result)\""
  }

  /// The names of marks, which cannot be names of attributes in any spelling:
  /// <https://github.com/mermaid-js/mermaid/blob/develop/packages/mermaid/src/diagrams/er/parser/erDiagram.jison>.
  private static let mermaidMarks: Set = ["pk", "fk", "uk"]

  /// The name of an attribute: a letter, then letters, digits, `_` and `-`.
  private static func mermaidWord(_ name: String) -> String {
    let scalars = name.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        ? scalar : "_"
    }
    let word = String(String.UnicodeScalarView(scalars))
    let isName = word.first?.isLetter == true && !mermaidMarks.contains(word.lowercased())
    return isName ? word : "f" + word
  }

  // Graphviz

  /// A graph in the language of Graphviz: <https://graphviz.org/doc/info/lang.html>.
  var dot: String {
    var lines = [
      "digraph models {", "  rankdir=LR;", "  node [shape=plain, fontname=\"Helvetica\"];",
      "  edge [fontname=\"Helvetica\", fontsize=10];",
    ]
    for (index, model) in description.models.enumerated() {
      let rows = model.fields.enumerated().map { place, field in
        let marks = keyMarks(of: field, in: model)
        let type = field.type.rawValue + (field.isOptional ? "?" : "")
        let cells = [
          field.name, type + (marks.isEmpty ? "" : " " + marks.joined(separator: " ")),
        ]
        return "<tr><td align=\"left\">\(Self.markup(cells[0]))</td>"
          + "<td align=\"left\" port=\"f\(place)\">\(Self.markup(cells[1]))</td></tr>"
      }
      let title =
        "<tr><td colspan=\"2\" bgcolor=\"lightgrey\"><b>\(Self.markup(model.name))</b></td></tr>"
      lines.append(
        "  m\(index) [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\">"
          + "\(title)\(rows.joined())</table>>];")
    }
    for edge in edges {
      let from = description.model(named: edge.from)
      let port =
        edge.field.flatMap { field in from?.fields.firstIndex { $0.name == field } }
        .map { ":f\($0):e" } ?? ""
      let style =
        switch edge.kind {
        case .reference: ""
        case .list: ", arrowhead=crow"
        case .binding: ", style=dashed, color=blue, fontcolor=blue, constraint=false"
        }
      lines.append(
        "  m\(place(of: edge.from))\(port) -> m\(place(of: edge.to)) "
          + "[label=\(Self.dotText(edge.label))\(style)];")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  /// A text in a label of markup.
  static func markup(_ text: String) -> String {
    let escapes: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
    let escaped = SwiftText.comment(text).map { escapes[$0] ?? String($0) }.joined()
    return escaped.isEmpty ? " " : escaped
  }

  /// A text in double quotes. A backslash begins an escape, such as the name of the node.
  static func dotText(_ text: String) -> String {
    let escaped = SwiftText.comment(text).replacing("\\", with: "\\\\").replacing(
      "\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}
