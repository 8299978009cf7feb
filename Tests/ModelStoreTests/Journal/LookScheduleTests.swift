import Testing

@testable import ModelStore

/// When a store polls for commits of other processes, on a clock that the tests set.
@Suite(.tags(.unit)) struct LookScheduleTests {
  private static let microsecond: UInt64 = 1_000
  private static let millisecond: UInt64 = 1_000_000
  private static let second: UInt64 = 1_000_000_000

  /// The system, a store and its signs.
  private struct World {
    var schedule = LookSchedule(idlePause: LookScheduleTests.second)
    var now: UInt64 = 10 * LookScheduleTests.second
    var due: UInt64 = .max
    var isUnheard = false
    /// The time of each poll.
    var looks: [UInt64] = []

    mutating func look(_ finding: LookSchedule.Finding = .nothing) {
      looks.append(now)
      schedule.looked(finding, isSign: isUnheard, at: now)
      isUnheard = false
      due = now + schedule.pause
    }

    /// Another process writes to the log now.
    mutating func write(_ finding: LookSchedule.Finding = .nothing) {
      isUnheard = true
      if !schedule.isDeaf { look(finding) }
    }

    /// Lets time pass.
    mutating func pass(
      _ duration: UInt64, _ finding: (UInt64) -> LookSchedule.Finding = { _ in .nothing }
    ) {
      let end = now + duration
      while due <= end {
        now = due
        look(finding(now))
      }
      now = end
    }
  }

  /// In microseconds, from the first on.
  private func pauses(_ looks: [UInt64]) -> [UInt64] {
    zip(looks, looks.dropFirst()).map { ($1 - $0) / Self.microsecond }
  }

  @Test func anIdleStorePollsOnceASecond() {
    var world = World()
    world.look()
    world.pass(10 * Self.second)
    #expect(pauses(world.looks) == Array(repeating: 1_000_000, count: 10))
  }

  @Test func aFileEventWithoutACommitIsFollowedByFewerAndFewerPolls() {
    var world = World()
    world.look()
    world.pass(Self.second / 2)
    world.looks = []
    world.write()
    world.pass(4 * Self.second)
    #expect(
      pauses(world.looks) == [
        100, 100, 100, 100, 100, 125, 156, 195, 244, 305, 381, 476, 596, 745, 931, 1164, 1455,
        1818, 2273, 2842, 3552, 4440, 5551, 6938, 8673, 10841, 13552, 16940, 21175, 26469, 33087,
        41358, 51698, 64623, 80779, 100973, 126217, 157771, 197214, 246518, 308148, 385185, 481481,
        1_000_000,
      ])
  }

  @Test func theDelayOfACommitIsAFractionOfItsDuration() {
    for duration in stride(from: 0, to: 300 * Self.millisecond, by: 70_001) {
      var world = World()
      world.look()
      world.pass(Self.second / 3)
      let start = world.now
      world.write()
      let visible = start + duration
      var seen: UInt64?
      world.pass(Self.second) { now in
        guard now >= visible, seen == nil else { return .nothing }
        seen = now
        return .foreignCommit
      }
      let late = (seen ?? .max) - visible
      #expect(late <= duration / 4 + 101 * Self.microsecond, "\(duration)")
    }
  }

  @Test func pollsContinueAfterACommitForTheNextOneUnderTheSameFileEvent() {
    var world = World()
    world.look()
    world.pass(Self.second / 2)
    world.looks = []
    world.write(.foreignCommit)
    #expect(!world.schedule.isDeaf)
    world.pass(4 * Self.second)
    #expect(
      pauses(world.looks) == [
        100, 300, 1200, 4800, 19200, 76800, 307_200, 1_000_000, 1_000_000, 1_000_000,
      ])
  }

  @Test func aNewWriteIsPolledAtOnceHoweverLongThePauseHasGrown() {
    var world = World()
    world.look()
    world.pass(Self.second / 2)
    world.write()
    world.pass(50 * Self.millisecond)
    world.looks = []
    let start = world.now
    world.write()
    world.pass(Self.millisecond / 2)
    #expect(world.looks.first == start)
    #expect(pauses(world.looks) == [100, 100, 100, 100, 100])
  }

  @Test func aStoreThatCommitsInALoopPollsLessAndLess() {
    var world = World()
    world.look()
    world.looks = []
    for _ in 0..<10_000 {
      world.write(.ownCommit)
      world.pass(50 * Self.microsecond) { _ in .ownCommit }
    }
    #expect(Array(pauses(world.looks).prefix(3)) == [1_000, 2_000, 4_000])
    #expect(Set(pauses(world.looks).dropFirst(2)) == [4_000])
  }

  @Test func aForeignCommitRightAfterALoopIsDetectedSoon() {
    var world = World()
    world.look()
    for _ in 0..<1_000 {
      world.write(.ownCommit)
      world.pass(50 * Self.microsecond) { _ in .ownCommit }
    }
    world.looks = []
    let start = world.now
    world.write(.foreignCommit)
    world.pass(4 * Self.millisecond) { _ in .foreignCommit }
    #expect((world.looks.first ?? .max) - start <= 4 * Self.millisecond)
  }

  @Test func oneOwnCommitDoesNotDelayPollsForLong() {
    var world = World()
    world.look()
    world.looks = []
    world.write(.ownCommit)
    #expect(world.schedule.isDeaf)
    world.pass(Self.millisecond)
    #expect(!world.schedule.isDeaf)
    let start = world.now
    world.write(.foreignCommit)
    #expect(world.looks.last == start)
  }

  @Test func duringALongForeignWriteTheStorePollsAboutOnceAMillisecond() {
    var world = World()
    world.look()
    world.looks = []
    for _ in 0..<100_000 {
      world.write()
      world.pass(10 * Self.microsecond)
    }
    #expect((500...1_300).contains(world.looks.count), "\(world.looks.count)")
  }

  @Test func pollingNeverPausesLonger() {
    var world = World(schedule: LookSchedule(idlePause: 20 * Self.millisecond))
    world.look()
    world.write()
    world.pass(4 * Self.second)
    #expect(pauses(world.looks).max() == 20_000)
  }
}
