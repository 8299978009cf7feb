import Dispatch
import GRDB

extension LiveQueryWorkload {
  var grdbContenders: [Contender] {
    isLarge ? [pool] : [codable, pool, queue]
  }

  private var codable: Contender {
    Contender(library: .grdb, name: "GRDB, pool, Codable") { directory in
      let plan = UpdatePlan(resultCount: resultCount)
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(plan.start, at: path)
      let pool = try DatabasePool.open(path, synchronous: .normal)
      return try session(plan: plan, writer: pool, record: CodableTrack.self)
    }
  }

  private var pool: Contender {
    Contender(library: .grdb, name: "GRDB, pool, by position") { directory in
      let plan = UpdatePlan(resultCount: resultCount)
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(plan.start, at: path)
      let pool = try DatabasePool.open(path, synchronous: .normal)
      return try session(plan: plan, writer: pool, record: PositionalTrack.self)
    }
  }

  private var queue: Contender {
    Contender(library: .grdb, name: "GRDB, queue, by position") { directory in
      let plan = UpdatePlan(resultCount: resultCount)
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(plan.start, at: path)
      let queue = try DatabaseQueue.open(path, synchronous: .normal)
      return try session(plan: plan, writer: queue, record: PositionalTrack.self)
    }
  }

  private func session<Record: FetchableRecord & TrackRecord & Sendable>(
    plan: UpdatePlan, writer: some DatabaseWriter, record: Record.Type
  ) throws -> Session {
    var plan = plan
    let recorder = EventRecorder<[Record]>()
    // With a constant region a pool can fetch beside the writer.
    let observation = ValueObservation.trackingConstantRegion { database in
      try Record.fetchAll(database.cachedStatement(sql: UpdatePlan.select))
    }
    .handleEvents(databaseDidChange: { recorder.committed() })
    let cancellable = observation.start(
      in: writer,
      scheduling: .async(onQueue: DispatchQueue(label: "observer")),
      onError: { recorder.failed($0) },
      onChange: { recorder.received($0) })
    let initialCount = resultCount
    _ = try recorder.next { $0.count == initialCount }

    return Session(policy: try writer.policy()) {
      try withExtendedLifetime(cancellable) {
        try writer.emptyLog()
        return Measurement(
          try Stopwatch.collect(limit: updateCount, countMin: sampleCountMin) { _ in
            let step = plan.next()
            try writer.write { database in
              let update = try database.cachedStatement(sql: Track.update)
              try update.execute(arguments: [
                step.track.title, step.track.milliseconds, step.track.rating, step.track.id,
              ])
            }
            return try recorder.next { step.isShown(by: $0) }.nanoseconds
          })
      }
    }
  }
}
