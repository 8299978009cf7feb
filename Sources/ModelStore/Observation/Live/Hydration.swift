internal import Synchronization

/// The commits that happen while a result is being read. It starts with the commit that the reader
/// sees, so that the result can be brought up to date afterwards.
final class Hydration: ChangeBroker.Observer {
  private struct State {
    var commits: [ChangeSet] = []
    var isOvertaken = false
  }

  let interests: [ChangeBroker.Interest]
  private let rule: LiveResult.Rule
  private let state = Mutex(State())

  init(_ interest: ChangeBroker.Interest, by rule: LiveResult.Rule) {
    interests = [interest]
    self.rule = rule
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    state.withLock { state in
      if commit.isReset {
        state.isOvertaken = true
      } else {
        state.commits.append(ChangeSet(version: commit.version, changes: commit.changes))
      }
    }
    return []
  }

  func deliver(upTo version: UInt64) {}

  /// Applies the collected commits to `rows`.
  ///
  /// - Returns: The number of commits; nil if they do not apply to `rows`. Then read the rows
  ///   again.
  func advance(_ rows: inout LiveRows) -> Int? {
    let commits: [ChangeSet]? = state.withLock { state in
      defer { state.commits = [] }
      return state.isOvertaken ? nil : state.commits
    }
    guard let commits else { return nil }
    for commit in commits {
      var touches = commit.changes.compactMap(rule.touch)
      guard rows.advance(to: commit.version, &touches) else { return nil }
    }
    return commits.count
  }
}
