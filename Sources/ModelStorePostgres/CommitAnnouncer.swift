#if Postgres
  internal import ModelStore
  internal import Synchronization

  /// Passes a ledger's commits to its doorbell, which notifies other members of them on its own
  /// connection and thread. So no write waits for that, and no further thread or session wakes. If
  /// no doorbell listens, or the program ends before, members find the commit when they poll.
  final class CommitAnnouncer: Sendable {
    private let schedule = Mutex(AnnouncementSchedule())
    /// Wakes the doorbell.
    let wakePipe: WakePipe

    init() throws { wakePipe = try WakePipe() }

    /// Has the doorbell notify members of a commit of this member, soon.
    ///
    /// - Parameter breakCount: ``ConnectionLane/Server/breakCount`` of the commit's connection.
    /// - Precondition: COMMIT has succeeded.
    func announce(_ announcement: Announcement, _ breakCount: Int) {
      if schedule.withLock({ $0.add(announcement, breakCount, at: .now) }) { wakePipe.wake() }
    }

    /// Notes a notification that has come, which may be this member's own.
    func note(_ announcement: Announcement) {
      schedule.withLock { $0.note(announcement, at: .now) }
    }

    /// What the doorbell has to do now on a connection with `breakCount`.
    func next(_ breakCount: Int) -> AnnouncementSchedule.Step {
      schedule.withLock { $0.next(breakCount, at: .now) }
    }

    /// Takes what still waits, because the doorbell ends.
    func takeWaiting(_ breakCount: Int) -> Announcement? {
      schedule.withLock { $0.takeWaiting(breakCount) }
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
