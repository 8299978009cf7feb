#if Postgres
  internal import ModelStore

  /// When a member notifies the others of its commits.
  ///
  /// A NOTIFY takes the server about as long as a third of a write, and wakes every member. Alone,
  /// a member sends at most one in each ``pause``, with the number of its newest commit. All
  /// members together send about as many: after one that is not its own, a member waits, too, for
  /// ``spreadMax`` longer at most. It sends none if the number is that of a later commit, because
  /// members then take its own as well.
  ///
  /// With a standby, a notification also proves that the standby has the commit, for which the
  /// others would otherwise wait. Then only its own notifications delay a member's next one. Sent
  /// to another server, it proves nothing: that server's standby may lack the commit.
  struct AnnouncementSchedule {
    typealias Time = ContinuousClock.Instant

    /// Between two notifications.
    static let pause = Duration.milliseconds(2)
    /// How much longer one member may wait than another, so that not all send at once.
    static let spreadMax = Duration.milliseconds(1)
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
    /// - Parameter delay: How long to wait besides ``pause``.
    mutating func note(
      _ announcement: Announcement, at now: Time, delay: Duration = spreadMax * .random(in: 0...1)
    ) {
      guard announcement.hash == nil, announcement.number != sent else { return }
      if let own = waiting?.announcement, own.hash == nil, own.number < announcement.number {
        waiting = nil
      }
      let later = now + Self.pause + delay
      due = max(due ?? now, min(later, waiting?.latest ?? later))
    }
  }
#endif
