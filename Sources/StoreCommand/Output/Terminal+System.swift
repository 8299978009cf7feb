import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Terminal {
  /// The width of a terminal that does not report its width.
  static let usualWidth = 80

  /// Asks the system about an open descriptor. `environment` needs the names of
  /// ``ColourPolicy/environmentNames`` and `COLUMNS`, where they are set.
  init(descriptor: Int32, environment: [String: String], colour: ColourPolicy.Choice) {
    let isInteractive = isatty(descriptor) == 1
    self.init(
      isInteractive: isInteractive,
      width: isInteractive
        ? Self.width(environment: environment, reported: Self.reported(descriptor, \.ws_col)) : nil,
      palette: Palette(
        isColoured: ColourPolicy.isColoured(
          choice: colour, environment: environment, isTerminal: isInteractive)))
    height = isInteractive ? Self.reported(descriptor, \.ws_row) : nil
  }

  /// The width of a terminal that reports `reported` cells: a positive `COLUMNS` wins, because only
  /// a person who means it exports it.
  static func width(environment: [String: String], reported: Int?) -> Int {
    if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
    return reported ?? usualWidth
  }

  private static func reported(_ descriptor: Int32, _ side: KeyPath<winsize, UInt16>) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[keyPath: side] > 0 else {
      return nil
    }
    return Int(size[keyPath: side])
  }
}
