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

  /// When a member notifies the others of its commits.
  ///
  /// A NOTIFY takes the server about as long as a third of a write, and wakes every member. Alone,
  /// a member sends at most one in 2 ms, with the number of its newest commit. All members together
  /// send about as many: after one that is not its own, a member waits, but not longer than 7 ms
  /// after its commit. It sends none if the number is that of a later commit, because members then
  /// take its own as well.
  ///
  /// With a standby, a notification also proves that the standby has the commit, for which the
  /// others would otherwise wait. Then only its own notifications delay a member's next one. Sent
  /// to another server, it proves nothing: that server's standby may lack the commit.
  struct AnnouncementSchedule {
    typealias Time = ContinuousClock.Instant

    /// Between two notifications.
    static let pause = Duration.milliseconds(2)
    /// How much later a member may send than another one, in microseconds, so that not all send at
    /// once.
    static let spread = 0..<1_000
    /// How long other members can put off a notification that could be sent.
    static let delayMax = Duration.milliseconds(4)

    enum Step: Equatable {
      case send(Announcement)
      /// Nothing before that time.
      case wait(until: Time)
      /// Nothing until the pipe wakes.
      case sleep
    }

    /// When the next notification may be sent; nil for at once.
    private var due: Time?
    /// The newest commit of which no member is notified yet, its connection's
    /// ``ConnectionLane/Server/breakCount``, and until when it is put off at most.
    private var waiting: (announcement: Announcement, breakCount: Int, latest: Time)?
    /// Whether the doorbell has to be woken after ``add(_:_:at:)``.
    private var isAsleep = true
    /// Whether it checks once more after its own notification.
    private var expectsMore = false
    /// The latest commit of which this member has sent a notification.
    private var sent: CommitNumber?

    /// Adds a commit of this member.
    ///
    /// - Returns: Whether the doorbell has to be woken.
    mutating func add(_ announcement: Announcement, _ breakCount: Int, at now: Time) -> Bool {
      let latest = waiting?.latest ?? max(due ?? now, now) + Self.delayMax
      waiting = (announcement, breakCount, latest)
      defer { isAsleep = false }
      return isAsleep
    }

    /// Returns what is to be done. After a notification it is asked again without a wake-up, so
    /// that writes which follow one another need none.
    mutating func next(_ breakCount: Int, at now: Time) -> Step {
      guard waiting != nil || expectsMore else {
        isAsleep = true
        return .sleep
      }
      if let due, now < due { return .wait(until: due) }
      expectsMore = waiting != nil
      guard let announcement = takeWaiting(breakCount) else { return next(breakCount, at: now) }
      due = now + Self.pause
      sent = announcement.number
      return .send(announcement)
    }

    mutating func takeWaiting(_ breakCount: Int) -> Announcement? {
      guard let (announcement, own, _) = waiting.take() else { return nil }
      return own == breakCount ? announcement : Announcement(number: announcement.number, hash: nil)
    }

    /// Notes a notification that has come.
    ///
    /// - Parameter delay: How long to wait besides ``pause``, in microseconds.
    mutating func note(
      _ announcement: Announcement, at now: Time, delay: Int = .random(in: spread)
    ) {
      guard announcement.hash == nil, announcement.number != sent else { return }
      if let own = waiting?.announcement, own.hash == nil, own.number < announcement.number {
        waiting = nil
      }
      let later = now + Self.pause + .microseconds(delay)
      due = max(due ?? now, min(later, waiting?.latest ?? later))
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
