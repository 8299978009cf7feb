import ModelStore

extension RuleWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("no rules", StoredTrack.self) { StoredTrack($0) },
      contender("field rules", RuledTrack.self) { RuledTrack($0) },
      contender("added rules", StoredTrack.self, rules: Self.added) { StoredTrack($0) },
      contender("a validator of two fields", StoredTrack.self, validators: [Self.judgingFields]) {
        StoredTrack($0)
      },
      contender("a validator of records", StoredTrack.self, validators: [Self.judging]) {
        StoredTrack($0)
      },
      // It checks another model's changes, so these updates must cost the same as without it.
      contender("a validator of another model", StoredTrack.self, validators: [Self.elsewhere]) {
        StoredTrack($0)
      },
    ]
  }

  /// The rules of ``RuledTrack``, beside the table.
  private static let added = [
    Rule.field(\StoredTrack.title, .notBlank), Rule.field(\StoredTrack.title, .length(1...200)),
    Rule.field(\StoredTrack.milliseconds, .range(0...)),
    Rule.field(\StoredTrack.rating, .range(0...5)),
  ]

  private static let judging = Validator("Track.real", StoredTrack.self) { change, _ in
    guard let track = change.new else { return .accept }
    return track.milliseconds >= 0 && !track.title.isEmpty
      ? .accept : .reject("must be real", \.title, \.milliseconds)
  }

  private static let judgingFields = Validator(
    "Track.real", \StoredTrack.title, \StoredTrack.milliseconds
  ) { _, new, _ in
    new.1 >= 0 && !new.0.isEmpty ? .accept : .reject("must be real")
  }

  private static let elsewhere = Validator("Item.real", StoredItem.self) { _, _ in .accept }

  private func contender<Stored: Model>(
    _ name: String, _ model: Stored.Type, rules: [Rule] = [], validators: [Validator] = [],
    _ stored: @escaping (Track) -> Stored
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      var configuration = StoreConfiguration()
      configuration.durability = .normal
      configuration.cacheSize = 64 * 1024 * 1024
      configuration.checkpointFrameCount = Int.max
      let store = try Store(
        at: directory.file("tracks.sqlite"), models: Stored.self, StoredItem.self, rules: rules,
        validators: validators, configuration: configuration)
      let tracks = Track.generate(count)
      try store.write { tx in
        for track in tracks { try tx.insert(stored(track)) }
      }
      var step: Int64 = 0
      return Session(policy: try store.policy()) {
        step += 1
        let changed = tracks.map { track in
          var track = track
          track.milliseconds += step
          return stored(track)
        }
        let timing = try Stopwatch.whole(operations: changed.count) {
          try store.write { tx in
            for track in changed { try tx.update(track) }
          }
        }
        try store.checkpoint()
        return Measurement(timing)
      }
    }
  }
}
