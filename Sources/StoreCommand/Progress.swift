import RecordFormats

/// A count on a terminal while a long job runs; nothing for short jobs or without a terminal.
struct Progress {
  private let console: Console
  private let start = ContinuousClock.now
  private var shownAt: ContinuousClock.Instant?

  /// A shorter job shows nothing; this is also the interval between updates.
  private static let interval = Duration.milliseconds(500)

  init(console: Console) {
    self.console = console
  }

  /// Shows that `count` records are done.
  mutating func note(_ count: Int) {
    guard count.isMultiple(of: 1024) else { return }
    let rate = rateText(count)
    show("\(Grouped.text(count)) read (\(rate))")
  }

  /// Shows that `done` of `all` parts of the job `text` are done.
  mutating func show(_ text: String, done: Int, of all: Int) {
    let filled = all == 0 ? 0 : done * Self.barWidth / all
    let bar =
      String(repeating: "#", count: filled)
      + String(repeating: ".", count: Self.barWidth - filled)
    show("\(text) [\(bar)] \(Grouped.text(done)) of \(Grouped.text(all))")
  }

  private static let barWidth = 20

  /// Shows the progress of the job.
  mutating func show(_ text: @autoclosure () -> String) {
    guard console.talkTerminal.isInteractive, console.loudness >= .usual else { return }
    let now = ContinuousClock.now
    guard now - (shownAt ?? start) >= Self.interval else { return }
    shownAt = now
    console.showProgress(text())
  }

  /// Removes the count from the screen.
  mutating func clear() {
    guard shownAt != nil else { return }
    shownAt = nil
    console.showProgress("")
  }

  /// How long the job has run: `1.3 s`.
  var elapsedText: String {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }

  private func rateText(_ count: Int) -> String {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return "\(Int(Double(count) / max(seconds, 0.001) / 1000))k/s"
  }
}
