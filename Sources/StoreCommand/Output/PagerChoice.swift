#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The program that shows long output page by page.
struct PagerChoice: Hashable, Sendable {
  /// A line for the shell.
  let line: String
  /// Whether a person named it, who then wants to know if it cannot be run.
  let isNamed: Bool

  /// The variables that decide.
  static let environmentNames = ["STORECLI_PAGER", "PAGER", "TERM", "PATH", "LESS"]

  /// What opens without a choice: it ends by itself if the text fits, shows colours, and leaves the
  /// text on the screen.
  private static let usual = "less -FIRX"

  /// The first of `STORECLI_PAGER`, `PAGER` and `less`.
  ///
  /// - Returns: nil for no pager: an empty name, `cat`, or no `less` on this system.
  init?(environment: [String: String]) {
    if let named = environment["STORECLI_PAGER"] ?? environment["PAGER"] {
      let line = named.trimmingSpaces
      guard !line.isEmpty, line != "cat" else { return nil }
      self.line = line
      isNamed = true
      return
    }
    guard let terminal = environment["TERM"], !terminal.isEmpty, terminal != "dumb",
      Self.isInstalled("less", path: environment["PATH"] ?? "")
    else { return nil }
    line = Self.usual
    isNamed = false
  }

  private static func isInstalled(_ name: String, path: String) -> Bool {
    path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// Variables for the pager: `PAGER=less` alone would show colours as escape sequences.
  static func variables(in environment: [String: String]) -> [String: String] {
    environment["LESS"] == nil ? ["LESS": "FIRX"] : [:]
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
