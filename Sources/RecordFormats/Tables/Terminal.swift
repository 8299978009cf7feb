/// The properties of one output stream: whether it is a screen, its size and its colours. Each
/// stream has its own.
package struct Terminal: Hashable, Sendable {
  /// Whether a person reads this stream on a terminal.
  package var isInteractive: Bool
  /// The number of cells in a line; nil if there is no limit, as in a pipe.
  package var width: Int?
  /// The number of lines on the screen; nil if it is not a screen or its height is unknown.
  package var height: Int?
  /// The colours of meanings on this stream.
  package var palette: Palette

  /// A stream that is not a terminal and has no colour.
  package static let pipe = Terminal(
    isInteractive: false, width: nil, palette: Palette(isColoured: false))

  package init(isInteractive: Bool, width: Int?, palette: Palette) {
    self.isInteractive = isInteractive
    self.width = width
    self.palette = palette
  }
}
