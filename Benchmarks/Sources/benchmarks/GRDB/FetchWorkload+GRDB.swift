import GRDB

extension FetchTracksWorkload {
  var grdbContenders: [Contender] {
    [
      contender("GRDB, Codable", CodableTrack.self),
      contender("GRDB, by position", PositionalTrack.self),
    ]
  }

  private func contender<Record: FetchableRecord & TableRecord & TrackRecord>(
    _ name: String, _ record: Record.Type
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(Track.generate(count), at: path)
      let queue = try DatabaseQueue.open(path, synchronous: .full)
      return Session(policy: try queue.policy()) {
        var tracks: [Record] = []
        let timing = try Stopwatch.whole(operations: count) {
          tracks = try queue.read { try Record.fetchAll($0) }
        }
        return Measurement(timing, digest: tracks.digest)
      }
    }
  }
}

extension FetchItemsWorkload {
  var grdbContenders: [Contender] {
    [
      contender("GRDB, Codable", CodableItem.self),
      contender("GRDB, by position", PositionalItem.self),
    ]
  }

  private func contender<Record: FetchableRecord & TableRecord & TenIntegersRecord>(
    _ name: String, _ record: Record.Type
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("items.sqlite")
      try RawConnection.createItems(count, at: path)
      let queue = try DatabaseQueue.open(path, synchronous: .full)
      return Session(policy: try queue.policy()) {
        var items: [Record] = []
        let timing = try Stopwatch.whole(operations: count) {
          items = try queue.read { try Record.fetchAll($0) }
        }
        return Measurement(timing, digest: items.digest)
      }
    }
  }
}
