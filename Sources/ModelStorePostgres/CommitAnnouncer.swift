#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// Notifies other members of this ledger's commits, on a thread of its own, so that no write
  /// waits for it.
  ///
  /// A NOTIFY costs PostgreSQL about a third of a write, and wakes every member. So commits that
  /// follow one another within ``pause`` share one, which names the last. If none is sent,
  /// for example because the program ended, members find the commit when they poll.
  ///
  /// It is a transaction of its own: in that of the commit it would hold a lock of all databases
  /// while PostgreSQL writes to its disk.
  final class CommitAnnouncer: Sendable {
    private let channel: String
    private let lane: ConnectionLane
    private let limits: Limits
    private let queue = DispatchQueue(label: "modelstore.postgres.announce")
    private let state = Mutex(State())

    private struct State {
      /// When the next notification may be sent.
      var due = DispatchTime.now()
      /// The newest commit of which no member is notified yet.
      var waiting: Announcement?
    }

    /// Between two notifications.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    init(channel: String, lane: ConnectionLane, limits: Limits) {
      self.channel = channel
      self.lane = lane
      self.limits = limits
    }

    /// Notifies members of a commit: at once, or 2 ms after the notification before.
    ///
    /// - Precondition: COMMIT has succeeded.
    func announce(_ announcement: Announcement) {
      let start = state.withLock { state -> DispatchTime? in
        defer { state.waiting = announcement }
        return state.waiting == nil ? state.due : nil
      }
      guard let start else { return }
      queue.asyncAfter(deadline: start) { [self] in notify() }
    }

    private func notify() {
      let announcement = state.withLock { state in
        state.due = .now() + Self.pause
        return state.waiting.take()
      }
      guard let announcement else { return }
      do {
        try lane.use { connection in
          _ = try connection.run(
            [(.notify, [.text(channel), .text(announcement.text)])], until: limits.answerTime)
        }
      } catch {
        // Members find the commit when they poll.
      }
    }
  }

  /// What a notification says: the number of a commit, and its hash if the standby has it, such as
  /// `17 6e34…`.
  struct Announcement: Equatable, Sendable {
    let number: CommitNumber
    /// nil if the standby may lack the commit, and from earlier versions of this library.
    let hash: CommitHash?

    init(number: CommitNumber, hash: CommitHash?) {
      self.number = number
      self.hash = hash
    }

    /// - Returns: nil for another text. The first versions of this library sent an empty one.
    init?(_ text: String) {
      let words = text.split(separator: " ")
      guard let number = words.first.flatMap({ Int64($0) }), number > 0 else { return nil }
      self.init(
        number: CommitNumber(rawValue: number),
        hash: words.count == 2 ? CommitHash(digits: words[1]) : nil)
    }

    var text: String { ["\(number)", hash?.description].compactMap(\.self).joined(separator: " ") }
  }

  extension CommitHash {
    /// - Parameter digits: 64 hexadecimal digits; the result is nil for anything else.
    fileprivate init?(digits: Substring) {
      let values = digits.compactMap(\.hexDigitValue)
      guard values.count == 64, digits.count == 64 else { return nil }
      self.init(
        bytes: stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
  }
#endif
