import Dispatch
import Foundation
import Synchronization

/// Work on a thread that has a current directory of its own, so that tests with relative paths run
/// side by side.
enum OwnDirectory {
  /// Whether the system gives a thread its own directory. Some sandboxes refuse that.
  static let isAvailable: Bool = {
    let isMoved = Mutex(false)
    perform(in: "/") { isMoved.withLock { $0 = true } }
    return isMoved.withLock(\.self)
  }()

  /// Runs `work` in `directory` and waits for it. Where ``isAvailable`` is false, nothing runs.
  static func perform(in directory: String, _ work: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      if move(to: directory) { work() }
      end.signal()
    }
    // As the main thread of a program has.
    thread.stackSize = 8 << 20
    thread.start()
    end.wait()
  }

  private static func move(to directory: String) -> Bool {
    guard let unshare, unshare(sharesDirectory) == 0 else { return false }
    return chdir(directory) == 0
  }

  /// `CLONE_FS` of <https://man7.org/linux/man-pages/man2/unshare.2.html>, which Glibc's module does
  /// not show: after it the calling thread shares its directory with no other.
  private static let sharesDirectory: Int32 = 0x200

  /// The function of Linux; nil on other systems.
  private static let unshare: (@convention(c) (Int32) -> Int32)? = {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
  }()
}
