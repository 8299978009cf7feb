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
      schedule.add(commit, at: time(milliseconds))
    }

    private func next(at milliseconds: Double) -> Step { schedule.next(at: time(milliseconds)) }

    private func note(_ commit: Announcement, at milliseconds: Double, delay: Int) {
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
      // It looks once more without a wake-up.
      #expect(next(at: 1.5) == .look(at: time(3)))
      #expect(next(at: 3) == .sleep)
      #expect(add(commit(2), at: 9))
      #expect(next(at: 9) == .send(commit(2)))
    }

    @Test func commitsThatFollowOneAnotherShareANotificationAndWakeNobody() {
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
          .look(at: time(2)), .look(at: time(2)), .send(commit(4)), .look(at: time(4)),
          .look(at: time(4)), .look(at: time(4)), .send(commit(8)),
        ])
    }

    /// The doorbell finds the second commit when it looks for the first.
    @Test func nobodyIsWokenTwice() {
      #expect(add(commit(1), at: 0))
      #expect(!add(commit(2), at: 0))
      #expect(next(at: 0) == .send(commit(2)))
    }

    @Test func afterTheNotificationOfAnotherMemberItWaits() {
      note(commit(1), at: 0, delay: 500)
      // An idle member does not look for that.
      #expect(next(at: 0) == .sleep)
      #expect(add(commit(2), at: 1))
      #expect(next(at: 1) == .look(at: time(2.5)))
      #expect(next(at: 2.5) == .send(commit(2)))
    }

    @Test func theNotificationOfALaterCommitReplacesItsOwn() {
      #expect(add(commit(1), at: 0))
      note(commit(2), at: 0, delay: 0)
      #expect(next(at: 0) == .sleep)
      #expect(add(commit(3), at: 5))
      #expect(next(at: 5) == .send(commit(3)))
    }

    @Test func itsOwnNotificationChangesNothing() {
      #expect(add(commit(1), at: 0))
      #expect(next(at: 0) == .send(commit(1)))
      note(commit(1), at: 1, delay: 999)
      #expect(!add(commit(2), at: 1))
      #expect(next(at: 2) == .send(commit(2)))
    }

    @Test func othersPutANotificationOffFor4MillisecondsAtMost() {
      #expect(add(commit(9), at: 0))
      for number in 1...8 {
        note(commit(Int64(number)), at: Double(number) / 2, delay: 999)
      }
      #expect(next(at: 3.9) == .look(at: time(4)))
      #expect(next(at: 4) == .send(commit(9)))
    }

    /// Others would wait for the standby without it.
    @Test func aNotificationThatProvesACommitIsNotLeftOut() {
      #expect(add(commit(1, isCertain: true), at: 0))
      note(commit(2, isCertain: true), at: 0, delay: 999)
      #expect(next(at: 0) == .send(commit(1, isCertain: true)))
      #expect(!add(commit(3, isCertain: true), at: 1))
      note(commit(4), at: 1, delay: 0)
      #expect(next(at: 3) == .send(commit(3, isCertain: true)))
    }
  }
#endif
