#if THREAD_SANITIZER
  import Glibc

  /// The standard library's `Mutex`, with a lock that the thread sanitizer can observe. Only `make
  /// sanitize` builds it. The standard library is compiled without the sanitizer, which would
  /// report false data races.
  package struct Mutex<Value: ~Copyable>: ~Copyable {
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
  }

  extension Mutex: @unchecked Sendable where Value: ~Copyable {
    // Guard: `lock` is held whenever `value` is used.
  }
#endif
