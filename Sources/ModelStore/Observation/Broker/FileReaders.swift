internal import Synchronization

/// The number of subscribers of live results that read the file to follow a commit, such as
/// windows.
///
/// Nearly always there is none. Then no commit needs to search for them among the observers that
/// it concerns.
final class FileReaders: Sendable {
  private let count = Atomic(0)

  var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  func add(_ change: Int) { count.add(change, ordering: .sequentiallyConsistent) }
}
