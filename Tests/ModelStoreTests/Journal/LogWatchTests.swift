#if os(Linux)
  import Testing

  @testable import ModelStore

  /// File events of writes to a log. They arrive before the writer's call returns, so no test here
  /// has to wait.
  @Suite(.tags(.unit)) struct LogWatchTests {
    private func isSign(_ watch: LogWatch) -> Bool {
      var isSign = false
      // Each take has room for some hundred events.
      for _ in 0..<100 { isSign = watch.take() || isSign }
      return isSign
    }

    @Test(SQLiteShell.isNeeded) func aLogThatIsCreatedDeletedAndCreatedAgainIsDetected() throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("signs.db")
      let first = try SQLiteShell(path)
      #expect(try first.run("PRAGMA journal_mode = wal; CREATE TABLE t(x)") == ["wal"])
      // The last connection that closes the file deletes the log.
      try first.finish()
      #expect(mode(of: path + "-wal") == nil)

      let watch = try #require(LogWatch(path: path))
      defer { watch.close() }
      #expect(!isSign(watch))
      for _ in 0..<5 {
        let shell = try SQLiteShell(path)
        try shell.run("INSERT INTO t VALUES (1)")
        #expect(isSign(watch))
        #expect(!isSign(watch))
        try shell.run("INSERT INTO t VALUES (2)")
        #expect(isSign(watch))
        try shell.run("SELECT count(*) FROM t")
        #expect(!isSign(watch))
        try shell.finish()
        #expect(mode(of: path + "-wal") == nil)
        _ = isSign(watch)
      }
    }

    @Test func anExistingLogAndItsReplacementAreDetected() throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("signs.db")
      try "a log".write(toFile: path + "-wal")
      let watch = try #require(LogWatch(path: path))
      defer { watch.close() }
      try "a longer log".write(toFile: path + "-wal")
      #expect(isSign(watch))
      try "another".write(toFile: directory.file("other"))
      #expect(!isSign(watch))
      try move(directory.file("other"), to: path + "-wal")
      #expect(isSign(watch))
      try "a longer one again".write(toFile: path + "-wal")
      #expect(isSign(watch))
    }

    @Test func writesCauseNoFileEventsWhileTheyAreNotAwaited() throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("signs.db")
      try "a log".write(toFile: path + "-wal")
      let watch = try #require(LogWatch(path: path))
      defer { watch.close() }
      for text in ["one", "two"] {
        watch.attend(false)
        try text.write(toFile: path + "-wal")
        #expect(!isSign(watch))
        watch.attend(true)
        try (text + " more").write(toFile: path + "-wal")
        #expect(isSign(watch))
      }
      // A log that takes its place is still detected.
      watch.attend(false)
      try "another".write(toFile: directory.file("other"))
      try move(directory.file("other"), to: path + "-wal")
      #expect(isSign(watch))
    }

    @Test func otherFilesInTheDirectoryCauseNoFileEvents() throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("signs.db")
      let watch = try #require(LogWatch(path: path))
      defer { watch.close() }
      for name in ["signs.db", "signs.db-shm", "signs.db-wal2", "signs.db-wa", "other.db-wal"] {
        try "text".write(toFile: directory.file(name))
        #expect(!isSign(watch), "\(name)")
      }
    }

    @Test func aDirectoryThatIsNotThereCannotBeWatched() throws {
      let directory = try TemporaryDirectory()
      #expect(LogWatch(path: directory.file("none/signs.db")) == nil)
      #expect(watchCount(of: directory.path) == 0)
    }

    @Test func anOverflowOfTheSystemsQueueIsAFileEvent() throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("signs.db")
      let watch = try #require(LogWatch(path: path))
      defer { watch.close() }
      let limit = try #require(
        Int(
          String(decoding: try bytes(of: "/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
            .filter(\.isNumber)))
      try "text".write(toFile: directory.file("a"))
      for number in 0...limit {
        let names = ["a", "b"]
        try move(
          directory.file(names[number % 2]), to: directory.file(names[(number + 1) % 2]))
      }
      var isHeard = false
      for _ in 0..<limit where !isHeard { isHeard = watch.take() }
      #expect(isHeard)
    }
  }
#endif
