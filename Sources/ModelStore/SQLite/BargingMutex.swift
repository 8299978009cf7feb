#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A mutex that a running thread may lock before a thread that waits for it longer.
///
/// On Linux, the standard library's `Mutex` is handed to the thread that waits longest. While that
/// thread wakes up, no other can lock it. With more threads than processors, each short use of such
/// a mutex would then take as long as switching threads.
package struct BargingMutex<Value: ~Copyable>: ~Copyable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  package init(_ initialValue: consuming sending Value) {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    let code = pthread_mutex_init(lock, nil)
    precondition(code == 0, "pthread_mutex_init: \(code)")
    value = .allocate(capacity: 1)
    value.initialize(to: initialValue)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }

  /// As ``withLock(_:)``, but the compiler does not check that `body` keeps the value to itself.
  borrowing func withLockUnchecked<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }
}

extension BargingMutex: @unchecked Sendable where Value: ~Copyable {
  // Guard: `lock` is held whenever `value` is used.
}
