/// The colours of one output stream. Code names the meaning of a text, never a colour.
package struct Palette: Hashable, Sendable {
  /// The meaning of a piece of text.
  package enum Meaning: CaseIterable, Hashable, Sendable {
    case added
    case removed
    case changed
    case identifier
    case heading
    /// Text that a reader may skip: hints, null.
    case hint
    case failure
  }

  /// Whether meanings are coloured. If not, every text stays as it is.
  package var isColoured: Bool

  package init(isColoured: Bool) { self.isColoured = isColoured }

  /// Returns `text` in the colour of `meaning`. Measure and pad the text first: the colour codes
  /// take no cells.
  package func dressed(_ text: String, as meaning: Meaning) -> String {
    guard isColoured, !text.isEmpty else { return text }
    return "\u{1B}[\(meaning.code)m\(text)\u{1B}[0m"
  }

  /// Returns a change's symbol, `+ - ~`, in its colour. The symbol is clear without colour too.
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

  /// The symbol of a change, which is clear without colour too.
  package var symbol: String {
    switch self {
    case .added: "+"
    case .removed: "-"
    case .changed: "~"
    case .identifier, .heading, .hint, .failure: ""
    }
  }
}
