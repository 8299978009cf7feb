/// What one output stream is: a screen or not, how wide, coloured or not. Each stream has its own.
package struct Terminal: Hashable, Sendable {
  /// Whether a person reads this stream on a terminal.
  package var isInteractive: Bool
  /// Cells in a line; nil where nothing limits it, as in a pipe.
  package var width: Int?
  /// Lines on the screen; nil where there is none, or it does not tell.
  package var height: Int?
  /// How meanings look here.
  package var palette: Palette

  /// A stream that is no terminal and has no colour.
  package static let pipe = Terminal(
    isInteractive: false, width: nil, palette: Palette(isColoured: false))

  package init(isInteractive: Bool, width: Int?, palette: Palette) {
    self.isInteractive = isInteractive
    self.width = width
    self.palette = palette
  }
}
