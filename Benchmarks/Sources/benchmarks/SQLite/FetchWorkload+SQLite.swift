extension FetchTracksWorkload {
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks(Track.generate(count), at: path)
        let connection = try RawConnection(path: path, synchronous: .full)
        let select = try connection.prepare(Track.selectAll)
        return Session(policy: try connection.policy()) {
          var tracks: [Track] = []
          let timing = try Stopwatch.whole(operations: count) {
            tracks = try select.all(connection) { $0.track }
          }
          return Measurement(timing, digest: tracks.digest)
        }
      }
    ]
  }
}

extension FetchItemsWorkload {
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let path = directory.file("items.sqlite")
        try RawConnection.createItems(count, at: path)
        let connection = try RawConnection(path: path, synchronous: .full)
        let select = try connection.prepare(TenIntegers.selectAll)
        return Session(policy: try connection.policy()) {
          var items: [TenIntegers] = []
          let timing = try Stopwatch.whole(operations: count) {
            items = try select.all(connection) { $0.tenIntegers }
          }
          return Measurement(timing, digest: items.digest)
        }
      }
    ]
  }
}
