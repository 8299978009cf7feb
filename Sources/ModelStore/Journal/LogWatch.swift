internal import Synchronization

#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #else
    internal import Musl
  #endif

  /// Reports file events of a database's write-ahead log: something wrote to it. An event does not
  /// say who wrote or what.
  ///
  /// It watches by name, through inotify, and never opens the files. Closing any other descriptor
  /// of a file would release SQLite's locks on it
  /// (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
  final class LogWatch: Sendable {
    /// Readable when there are events.
    let descriptor: Int32
    private let logPath: String
    private let logName: [UInt8]
    private let directory: Int32
    private let state = Mutex(State())

    private struct State {
      /// The log's watch; nil while there is no log.
      var log: Int32?
      var isAttentive = true

      /// The events of the log to report.
      var mask: UInt32 { UInt32(isAttentive ? IN_MODIFY : IN_MOVE_SELF) }
    }

    /// Returns nil if the system cannot watch: too many watches exist, or the directory is not
    /// readable.
    ///
    /// - Parameter path: The absolute path of the database.
    init?(path: String) {
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
      logPath = path + "-wal"
      logName = Array(logPath[slash...].utf8.dropFirst())
      let parent = slash == path.startIndex ? "/" : String(path[..<slash])
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      // The log may be deleted and created again as another file.
      directory = inotify_add_watch(
        descriptor, parent, UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR))
      guard directory >= 0, watchLog() else {
        Glibc.close(descriptor)
        return nil
      }
    }

    /// - Returns: Whether the log is watched, or will be when it is created.
    private func watchLog() -> Bool {
      state.withLock { watchLog(&$0) }
    }

    private func watchLog(_ state: inout State) -> Bool {
      let mask = state.mask | UInt32(IN_DONT_FOLLOW)
      let watch = inotify_add_watch(descriptor, logPath, mask)
      guard watch >= 0 || errno == ENOENT else { return false }
      // The watch of a deleted log would last as long as a process has the log open.
      if let log = state.log, log != watch { inotify_rm_watch(descriptor, log) }
      state.log = watch >= 0 ? watch : nil
      return true
    }

    /// Reports writes to the log from now on, or does not. Writes that are not reported cost the
    /// system, and so the writer, much less.
    ///
    /// The watch itself stays: the system could refuse a new one.
    func attend(_ isAttentive: Bool) {
      state.withLock { state in
        guard state.isAttentive != isAttentive else { return }
        state.isAttentive = isAttentive
        _ = watchLog(&state)
      }
    }

    /// Takes the pending events.
    ///
    /// - Returns: Whether the log was written to, or may have been.
    func take() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &buffer, buffer.count)
      var rest = buffer.prefix(max(0, count))
      var isSign = false
      while let event = Event(takingFrom: &rest) {
        if event.watch == directory {
          guard event.name.elementsEqual(logName) else { continue }
          // The process that created the log is about to write, or wrote before the watch began.
          isSign = true
          _ = watchLog()
        } else if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
          isSign = true
          _ = watchLog()
        } else if event.mask & UInt32(IN_MODIFY) != 0 {
          isSign = true
        }
      }
      return isSign
    }

    /// Stops watching. Do not call ``take()`` afterwards.
    func close() {
      Glibc.close(descriptor)
    }

    /// The structure `inotify_event` of <https://man7.org/linux/man-pages/man7/inotify.7.html>.
    private struct Event {
      let watch: Int32
      let mask: UInt32
      /// The file's name in its directory; empty for the watched file itself.
      let name: ArraySlice<UInt8>

      /// Takes the first event of `bytes`; nil if there is none.
      init?(takingFrom bytes: inout ArraySlice<UInt8>) {
        let header = 16
        guard bytes.count >= header else { return nil }
        func number(at place: Int) -> UInt32 {
          let start = bytes.startIndex + place
          return bytes[start..<start + 4].enumerated().reduce(0) { number, byte in
            #if _endian(little)
              number | UInt32(byte.element) << UInt32(8 * byte.offset)
            #else
              number << 8 | UInt32(byte.element)
            #endif
          }
        }
        watch = Int32(bitPattern: number(at: 0))
        mask = number(at: 4)
        let end = header + Int(number(at: 12))
        guard bytes.count >= end else { return nil }
        name = bytes.dropFirst(header).prefix(end - header).prefix { $0 != 0 }
        bytes = bytes.dropFirst(end)
      }
    }
  }
#else
  /// This system cannot report file events without opening the file, so the store polls.
  final class LogWatch: Sendable {
    let descriptor: Int32

    init?(path: String) { return nil }

    func take() -> Bool { false }

    func attend(_ isAttentive: Bool) {}

    func close() {}
  }
#endif
