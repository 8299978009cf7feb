import ModelStore
import RecordFormats
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The commits of other programs, as lines to show above a prompt. It reads the change journal.
final class ChangeFeed: Sendable {
  private struct State {
    var isOn = false
    /// The position up to which changes were shown.
    var position: JournalPosition?
    var lines: [String] = []
    /// Changes that are not listed.
    var restCount = 0
    var reader: Task<Void, Never>?
  }

  /// The most lines that wait for a prompt.
  static let lineCountMax = 20

  private let state = Mutex(State())
  private let terminal: Terminal
  /// Wakes the prompt.
  private let ring: @Sendable () -> Void

  init(on terminal: Terminal, ring: @escaping @Sendable () -> Void) {
    self.terminal = terminal
    self.ring = ring
  }

  var isOn: Bool { state.withLock(\.isOn) }

  /// Shows later commits from now on.
  ///
  /// - Throws: ``CommandError`` if the store has no change journal.
  func begin(_ store: Store) throws {
    guard try !store.changeJournal.details().isEmpty else {
      throw CommandError(
        .failed, code: StoreError.Code.journalGap.rawValue,
        "The change journal is off, so the changes of other programs cannot be shown.",
        hint: "storecli journal on")
    }
    let position = try store.changeJournal.position()
    state.withLock { state in
      state.isOn = true
      state.position = position
    }
    follow(store)
  }

  func end() {
    follow(nil)
    state.withLock { $0 = State() }
  }

  /// Reads the journal of another store of the same file; nil stops reading until the next one.
  func follow(_ store: Store?) {
    let earlier = state.withLock { state in
      defer { state.reader = nil }
      return state.reader
    }
    earlier?.cancel()
    guard let store, let position = state.withLock({ $0.isOn ? $0.position : nil }) else { return }
    let reader = Task { [weak self] in
      do {
        for try await end in store.changeJournal.growth(after: position) {
          try await self?.read(store, through: end)
        }
      } catch {
        self?.fail(error)
      }
    }
    state.withLock { $0.reader = reader }
  }

  /// The lines that came since the last call.
  func take() -> [String] {
    state.withLock { state in
      defer { (state.lines, state.restCount) = ([], 0) }
      guard state.restCount > 0 else { return state.lines }
      return state.lines + ["and \(Grouped.text(state.restCount, "more change")); see history"]
    }
  }

  private func read(_ store: Store, through end: JournalPosition) async throws {
    guard let start = state.withLock(\.position), start < end else { return }
    let transactions = try await store.changeJournal.transactions(after: start, through: end)
    let own = Int64(getpid())
    let lines = JournalLine.lines(
      of: transactions.filter { $0.isForeign || $0.process != own }, in: store.schema)
    state.withLock { state in
      guard state.isOn, state.position == start else { return }
      state.position = end
      for line in lines {
        guard state.lines.count < Self.lineCountMax else {
          state.restCount += 1
          continue
        }
        let change = WatchedChange(change: line.change, logged: line)
        state.lines.append(change.text(palette: terminal.palette, width: terminal.width))
      }
    }
    if !lines.isEmpty { ring() }
  }

  /// Ends the feed, and shows why.
  func fail(_ error: any Error) {
    guard !(error is CancellationError) else { return }
    let message = CellText.visible(CommandError(error).message)
    state.withLock { state in
      guard state.isOn else { return }
      state.lines.append("watch off: \(message)")
      state.isOn = false
    }
    ring()
  }
}
