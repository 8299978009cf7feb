#if Postgres
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// Which notifications a member sends, and when.
  @Suite(.tags(.unit)) final class AnnouncementScheduleTests {
    private typealias Step = AnnouncementSchedule.Step

    private var schedule = AnnouncementSchedule()
    private let start = ContinuousClock.now

    private func time(_ milliseconds: Double) -> ContinuousClock.Instant {
      start + .milliseconds(1) * milliseconds
    }

    private func add(_ commit: Announcement, at milliseconds: Double) -> Bool {
      schedule.add(commit, 1, at: time(milliseconds))
    }

    private func next(at milliseconds: Double) -> Step { schedule.next(1, at: time(milliseconds)) }

    private func note(_ commit: Announcement, at milliseconds: Double, delay: Duration) {
      schedule.note(commit, at: time(milliseconds), delay: delay)
    }

    private func commit(_ number: Int64, isCertain: Bool = false) -> Announcement {
      Announcement(
        number: CommitNumber(rawValue: number), hash: isCertain ? CommitHash(of: [1]) : nil)
    }

    @Test func aCommitAloneIsAnnouncedAtOnce() {
      #expect(next(at: 0) == .sleep)
      #expect(add(commit(1), at: 1))
      #expect(next(at: 1) == .send(commit(1)))
      // It checks once more without a wake-up.
      #expect(next(at: 1.5) == .wait(until: time(3)))
      #expect(next(at: 3) == .sleep)
      #expect(add(commit(2), at: 9))
      #expect(next(at: 9) == .send(commit(2)))
    }

    @Test func commitsThatFollowOneAnotherShareANotification() {
      #expect(add(commit(1), at: 0))
      #expect(next(at: 0) == .send(commit(1)))
      var steps: [Step] = []
      for number in 2...8 {
        let now = Double(number) / 2
        #expect(!add(commit(Int64(number)), at: now))
        steps.append(next(at: now))
      }
      #expect(
        steps == [
          .wait(until: time(2)), .wait(until: time(2)), .send(commit(4)), .wait(until: time(4)),
          .wait(until: time(4)), .wait(until: time(4)), .send(commit(8)),
        ])
    }

    /// The doorbell finds it when it looks for the first.
    @Test func aSecondCommitNeedsNoWakeUp() {
      #expect(add(commit(1), at: 0))
      #expect(!add(commit(2), at: 0))
      #expect(next(at: 0) == .send(commit(2)))
    }

    @Test func afterTheNotificationOfAnotherMemberItWaits() {
      note(commit(1), at: 0, delay: .microseconds(500))
      // An idle member does not look for that.
      #expect(next(at: 0) == .sleep)
      #expect(add(commit(2), at: 1))
      #expect(next(at: 1) == .wait(until: time(2.5)))
      #expect(next(at: 2.5) == .send(commit(2)))
    }

    @Test func theNotificationOfALaterCommitReplacesItsOwn() {
      #expect(add(commit(1), at: 0))
      note(commit(2), at: 0, delay: .zero)
      #expect(next(at: 0) == .sleep)
      #expect(add(commit(3), at: 5))
      #expect(next(at: 5) == .send(commit(3)))
    }

    @Test func itsOwnNotificationChangesNothing() {
      #expect(add(commit(1), at: 0))
      #expect(next(at: 0) == .send(commit(1)))
      note(commit(1), at: 1, delay: .microseconds(999))
      #expect(!add(commit(2), at: 1))
      #expect(next(at: 2) == .send(commit(2)))
    }

    @Test func othersPutANotificationOffFor4MillisecondsAtMost() {
      #expect(add(commit(9), at: 0))
      for number in 1...8 {
        note(commit(Int64(number)), at: Double(number) / 2, delay: .microseconds(999))
        // Its own later commits do not change that.
        #expect(!add(commit(Int64(number) + 9), at: Double(number) / 2))
      }
      #expect(next(at: 3.9) == .wait(until: time(4)))
      #expect(next(at: 4) == .send(commit(17)))
    }

    /// Others would wait for the standby without it.
    @Test func aNotificationThatProvesACommitIsNotLeftOut() {
      #expect(add(commit(1, isCertain: true), at: 0))
      note(commit(2, isCertain: true), at: 0, delay: .microseconds(999))
      #expect(next(at: 0) == .send(commit(1, isCertain: true)))
      #expect(!add(commit(3, isCertain: true), at: 1))
      note(commit(4), at: 1, delay: .zero)
      #expect(next(at: 3) == .send(commit(3, isCertain: true)))
    }

    /// The standby of another server may lack the commit.
    @Test func onAnotherConnectionANotificationProvesNothing() {
      #expect(add(commit(1, isCertain: true), at: 0))
      #expect(schedule.next(2, at: time(0)) == .send(commit(1)))
      #expect(!add(commit(2, isCertain: true), at: 1))
      #expect(schedule.takeWaiting(2) == commit(2))
      #expect(schedule.takeWaiting(2) == nil)
      #expect(!add(commit(3, isCertain: true), at: 1))
      #expect(schedule.takeWaiting(1) == commit(3, isCertain: true))
    }
  }
#endif
