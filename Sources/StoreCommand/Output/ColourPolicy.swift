/// Decides whether a stream is coloured. Pure: the same answer for the same arguments.
///
/// The first rule that applies decides: `--color always` or `never`; `NO_COLOR`;
/// `STORECLI_NO_COLOR`; `CLICOLOR_FORCE` or `FORCE_COLOR`; `CLICOLOR=0`; `TERM=dumb`; whether the
/// stream is a terminal. An empty variable counts as not set, and `0` does not force.
enum ColourPolicy {
  /// The argument of `--color`.
  enum Choice: String, CaseIterable, Hashable, Sendable {
    case always
    case never
    /// Decides by the environment and the stream.
    case auto
  }

  /// The variables that the policy reads.
  static let environmentNames = [
    "NO_COLOR", "STORECLI_NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "CLICOLOR", "TERM",
  ]

  /// Whether a stream is coloured; `isTerminal` is about that stream, not about standard output.
  static func isColoured(
    choice: Choice, environment: [String: String], isTerminal: Bool
  ) -> Bool {
    switch choice {
    case .always: return true
    case .never: return false
    case .auto: break
    }
    func isSet(_ name: String) -> Bool { environment[name, default: ""] != "" }
    func forces(_ name: String) -> Bool { isSet(name) && environment[name] != "0" }
    if isSet("NO_COLOR") || isSet("STORECLI_NO_COLOR") { return false }
    if forces("CLICOLOR_FORCE") || forces("FORCE_COLOR") { return true }
    if environment["CLICOLOR"] == "0" || environment["TERM"] == "dumb" { return false }
    return isTerminal
  }
}
