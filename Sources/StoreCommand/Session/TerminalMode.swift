#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How the terminal of standard input passes keys on: as a line at a time, or each at once while a
/// prompt edits.
struct TerminalMode: Sendable {
  private var usual = termios()

  /// Takes the present mode as the usual one; nil if standard input is no terminal.
  init?() {
    guard tcgetattr(STDIN_FILENO, &usual) == 0 else { return nil }
  }

  /// Each key arrives at once and unchanged, Ctrl-C too. Keys that were typed before stay.
  func beginEditing() {
    var mode = usual
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    mode.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | ISTRIP)
    withUnsafeMutableBytes(of: &mode.c_cc) { controls in
      controls[Int(VMIN)] = 1
      controls[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }

  /// The mode in which commands run.
  func endEditing() {
    var mode = usual
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }
}
