/// How long a transaction is open, and when its prompt changes.
struct SessionAge: Equatable {
  let seconds: Int64

  init(_ duration: Duration) { seconds = max(0, duration.components.seconds) }

  /// `12s`, `3m` or `2h`.
  var text: String {
    switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m"
    default: "\(seconds / 3600)h"
    }
  }

  /// The whole minutes.
  var minutes: Int64 { seconds / 60 }
}
