import ModelStore

extension LiveQueryWorkload {
  var modelStoreContenders: [Contender] {
    [
      // A program cannot run code between COMMIT and delivery. So the clock starts before COMMIT,
      // and the figure includes more than the workload requires, never less.
      Contender(library: .modelStore, name: "ModelStore, COMMIT included") { directory in
        var plan = UpdatePlan(resultCount: resultCount)
        let store = try Store.createTracks(
          plan.start, at: directory.file("tracks.sqlite"), synchronous: .normal)
        let live = try store.liveQuery(
          StoredTrack.where { $0.rating >= UpdatePlan.ratingMin }.order { $0.milliseconds })
        let recorder = EventRecorder<QueryChanges<StoredTrack>>()
        let subscription = try live.observe { recorder.received($0) }
        return Session(policy: try store.policy()) {
          try withExtendedLifetime(subscription) {
            try store.checkpoint()
            return Measurement(
              try Stopwatch.collect(limit: updateCount) { _ in
                let step = plan.next()
                try Self.commit(step.track, to: store) { recorder.committed() }
                return try recorder.next { $0.shows(step) }.nanoseconds
              })
          }
        }
      }
    ]
  }

  private static func commit(
    _ track: Track, to store: Store, _ beforeCommit: () -> Void
  ) throws {
    try store.write { transaction in
      try transaction.update(StoredTrack(track))
      beforeCommit()
    }
  }
}

extension QueryChanges<StoredTrack> {
  /// Returns whether this event reports only `step`: one row, its new values, the result's new
  /// size.
  fileprivate func shows(_ step: UpdatePlan.Step) -> Bool {
    let rows = insertions.map(\.record) + updates.map(\.new)
    let isInside = step.track.rating >= UpdatePlan.ratingMin
    return newCount == step.resultCount && !isReset
      && (isInside
        ? rows.count == 1 && rows[0].matches(step.track)
        : rows.isEmpty && deletions.count == 1 && deletions[0].key == step.track.id)
  }
}
