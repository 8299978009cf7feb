internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The process that opened a store. Only this process may use its connections, or close them.
///
/// See <https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_>.
struct OpeningProcess: Sendable {
  private let id = getpid()
  private let page = ProcessPage.shared

  init() { page?.note(id) }

  var isCurrent: Bool {
    guard let noted = page?.noted, noted != 0 else { return getpid() == id }
    return noted == id
  }

  /// Checks that the current process opened the store.
  ///
  /// - Throws: ``StoreError`` with code `forked` in a child of the process.
  func check() throws(StoreError) {
    guard isCurrent else {
      throw StoreError(
        .forked,
        """
        This process was forked while the store was open, and SQLite cannot be used on that file \
        here. Start another program (exec) that opens the store, or fork before you open it.
        """)
    }
  }
}

/// A page of memory that the kernel clears in a forked child. It holds the number of the process,
/// which is then read without a system call. On Linux, getpid() is one.
private struct ProcessPage: Sendable {
  private let number: SharedNumber

  /// Points to memory that is never freed, and that threads only use as an atomic value.
  private struct SharedNumber: @unchecked Sendable {
    // Guard: the value is atomic.
    let pointer: UnsafeMutablePointer<Atomic<pid_t>>
  }

  /// The number that the process has noted; 0 in a forked child that has noted none.
  var noted: pid_t { number.pointer.pointee.load(ordering: .relaxed) }

  func note(_ id: pid_t) { number.pointer.pointee.store(id, ordering: .relaxed) }

  /// nil if the system has no such pages.
  static let shared: ProcessPage? = {
    #if os(Linux)
      let size = sysconf(Int32(_SC_PAGESIZE))
      guard size > 0 else { return nil }
      let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let map, map != MAP_FAILED else { return nil }
      // MADV_WIPEONFORK: https://man7.org/linux/man-pages/man2/madvise.2.html. Some emulators accept
      // any advice and do nothing.
      guard madvise(map, size, -1) != 0, madvise(map, size, 18) == 0 else {
        munmap(map, size)
        return nil
      }
      let pointer = map.bindMemory(to: Atomic<pid_t>.self, capacity: 1)
      pointer.initialize(to: Atomic(0))
      return ProcessPage(number: SharedNumber(pointer: pointer))
    #else
      return nil
    #endif
  }()
}
