#if THREAD_SANITIZER
  import ModelStore

  /// The lock that the thread sanitizer knows, for the tests as well.
  typealias Mutex<Value: ~Copyable> = ModelStore.Mutex<Value>
#endif
