internal import Synchronization

/// Collects what commits do to a result while it is being read beside them, from the commit on that
/// the reader sees, so that what was read can be brought up to date afterwards.
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
        state.commits.append(commit.changes)
      }
    }
    return []
  }

  func deliver(upTo version: UInt64) {}

  /// Takes over into `rows` what was collected so far.
  ///
  /// - Returns: How many commits that were; nil when they do not lead on from `rows`, which must be
  ///   read again.
  func advance(_ rows: inout LiveRows) -> Int? {
    let commits: [ChangeSet]? = state.withLock { state in
      defer { state.commits = [] }
      return state.isOvertaken ? nil : state.commits
    }
    guard let commits else { return nil }
    for commit in commits {
      guard rows.advance(to: commit.version, commit.changes.compactMap(rule.touch)) else {
        return nil
      }
    }
    return commits.count
  }
}
