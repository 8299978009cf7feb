/// The look of meanings on one stream. Code names what a text means, never a colour.
package struct Palette: Hashable, Sendable {
  /// What a piece of text is.
  package enum Meaning: CaseIterable, Hashable, Sendable {
    case added
    case removed
    case changed
    case identifier
    case heading
    /// What may be skipped: hints, null.
    case hint
    case failure
  }

  /// Whether meanings are coloured; where not, every text stays as it is.
  package var isColoured: Bool

  package init(isColoured: Bool) { self.isColoured = isColoured }

  /// `text` dressed as `meaning`. Measure and pad before dressing: the codes take no cells.
  package func dressed(_ text: String, as meaning: Meaning) -> String {
    guard isColoured, !text.isEmpty else { return text }
    return "\u{1B}[\(meaning.code)m\(text)\u{1B}[0m"
  }

  /// A change's symbol, `+ - ~`, dressed; it says the same without colour.
  package func symbol(_ meaning: Meaning) -> String {
    dressed(meaning.symbol, as: meaning)
  }
}

extension Palette.Meaning {
  /// The Select Graphic Rendition parameters of ECMA-48.
  fileprivate var code: String {
    switch self {
    case .added: "32"
    case .removed: "31"
    case .changed: "33"
    case .identifier: "36"
    case .heading: "1"
    case .hint: "2"
    case .failure: "1;31"
    }
  }

  /// The sign of a change; it says the same without colour.
  package var symbol: String {
    switch self {
    case .added: "+"
    case .removed: "-"
    case .changed: "~"
    case .identifier, .heading, .hint, .failure: ""
    }
  }
}
