#if THREAD_SANITIZER
  /// A lock that the thread sanitizer can observe, in place of the standard library's `Mutex`. Only
  /// `make sanitize` builds it. The standard library is compiled without the sanitizer, which would
  /// report false data races.
  package typealias Mutex<Value: ~Copyable> = BargingMutex<Value>
#endif
