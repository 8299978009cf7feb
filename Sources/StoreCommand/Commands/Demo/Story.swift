import ModelStore
import RecordFormats
import Synchronization

/// The demonstration, printed while it runs: every number comes from the store.
struct Story {
  let path: String
  let console: Console

  private static let artistCount: Int64 = 40
  private static let albumsOfArtist: Int64 = 3
  private static let tracksOfAlbum: Int64 = 10

  /// The events of the observers, in order.
  private final class Events: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) {
      lines.withLock { $0.append(line) }
    }

    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  /// Prints the whole story.
  func run() throws {
    let store = try open()
    try fill(store)
    let events = Events()
    let longTracks = Track.where { $0.seconds > 300 }.order { $0.title }
    let live = try store.liveQuery(longTracks)
    let list = try live.observe { changes in events.add(Self.text(changes)) }
    let name = try store.observe(\Album.artistName, of: 1) { change in
      events.add(
        "Album 1 artistName: \(Self.quoted(change.old)) -> \(Self.quoted(change.new))   (\(change.origin))"
      )
    }
    try watch(store, live: live, longTracks, events)
    try bind(store, events)
    try refuse(store, events)
    list.cancel()
    name.cancel()
    try count(store, live: live, longTracks)
    store.close()
    try sayWhatToTry()
  }

  private func open() throws -> Store {
    try heading("A store is one SQLite file")
    let store = try Store(
      at: path, models: Artist.self, Album.self, Track.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      validators: [Self.yearRule])
    try line("Three models, with rules for their fields: Artist, Album, Track.")
    try line(
      "One binding: Album.artistName follows Artist.name. It lives in the file, as triggers.")
    try line("One validator in Swift: an album is not older than its artist.")
    return store
  }

  private static let yearRule = Validator("Album.notBeforeArtist", Album.self) { change, reads in
    guard let album = change.new, let artist = try reads.find(Artist.self, album.artistID)
    else { return .accept }
    return album.year >= artist.founded
      ? .accept : .reject("must not be before \(artist.founded), when its artist began", \.year)
  }

  private func fill(_ store: Store) throws {
    try heading("One transaction writes it all, or nothing")
    var music = MusicGenerator(seed: 7)
    let written = try store.writeReturningChanges { tx in
      var albumID: Int64 = 0
      var trackID: Int64 = 0
      for artistID in 1...Self.artistCount {
        let artist = try tx.insert(music.artist(artistID))
        for _ in 1...Self.albumsOfArtist {
          albumID += 1
          let album = try tx.insert(music.album(albumID, by: artist))
          for _ in 1...Self.tracksOfAlbum {
            trackID += 1
            try tx.insert(music.track(trackID, on: album))
          }
        }
      }
    }
    for model in store.schema.models {
      let count = written.changes.changes.count { $0.model == model.name }
      try line("\(Grouped.text(count)) \(model.name)s")
    }
    if let album = try store.find(Album.self, 1) {
      try line(
        "Album 1 is \"\(album.title)\" by \(Self.quoted(album.artistName)): the binding filled that in."
      )
    }
  }

  private func watch(
    _ store: Store, live: LiveQuery<Track>, _ longTracks: StoreQuery<Track>, _ events: Events
  ) throws {
    try heading("A live query: tracks longer than 5 minutes, by title")
    let tracks = try store.fetch(longTracks)
    try line("\(Grouped.text(live.count)) of them now. The first three:")
    for (index, track) in tracks.prefix(3).enumerated() { try line("  \(index)  \(track.title)") }
    guard tracks.count > 12 else { return }
    let renamed = tracks[12]
    let shortened = tracks[5]
    try line("One commit renames number 12 to \"A New Beginning\", cuts number 5 to 4 minutes,")
    try line("and adds a track of 6 minutes. What the observer receives, with exact indices:")
    try store.write { tx in
      try tx.set(\Track.title, to: "A New Beginning", for: renamed.id)
      try tx.set(\Track.seconds, to: 240, for: shortened.id)
      try tx.insert(Track(id: 5000, title: "Zero Hour", seconds: 360, albumID: 1))
    }
    try show(events, store)
  }

  private func bind(_ store: Store, _ events: Events) throws {
    try heading("A bound field follows")
    guard let artist = try store.find(Artist.self, 1) else { return }
    try line("Artist 1 is renamed from \"\(artist.name)\" to \"Nina & the Tides\".")
    let written = try store.writeReturningChanges { tx in
      try tx.set(\Artist.name, to: "Nina & the Tides", for: 1)
    }
    try line("What the commit changed, record by record:")
    for change in ChangeLine.lines(of: written.changes, in: store.schema) {
      try line("  " + change.text(palette: console.dataTerminal.palette, width: nil))
    }
    try line("And what the observer of one field receives:")
    try show(events, store)
  }

  private func refuse(_ store: Store, _ events: Events) throws {
    try heading("A commit that breaks a rule does not happen")
    try line("Albums 1 and 2 shall be of 1901, before their artist began:")
    try expectRefusal {
      try store.write { tx in
        try tx.set(\Album.year, to: 1901, for: 1)
        try tx.set(\Album.year, to: 1901, for: 2)
      }
    }
    try line("An empty title, which the file itself refuses, from every program:")
    try expectRefusal {
      try store.write { tx in try tx.set(\Track.title, to: "", for: 1) }
    }
    store.waitForDelivery()
    try line("Observers received \(Grouped.text(events.take().count, "change")).")
  }

  private func expectRefusal(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == .rejected {
      for violation in error.violations {
        let record = ([violation.model] + (violation.key.map { [KeyText.text($0)] } ?? []))
          .joined(separator: " ")
        try line(
          "  refused: \(record) \(violation.fields.joined(separator: ", ")) "
            + "\(violation.message)   (rule \(violation.rule))")
      }
    }
  }

  private func count(
    _ store: Store, live: LiveQuery<Track>, _ longTracks: StoreQuery<Track>
  ) throws {
    try heading("The result was right all along")
    let keys = try store.fetch(longTracks).map { [SQLValue.integer($0.id)] }
    let agrees = live.keys(in: 0..<live.count) == keys
    try line(
      "The live query has \(Grouped.text(live.count, "row")); the same query run again "
        + (agrees ? "gives the same rows in the same order." : "DIFFERS."))
    let problems = try store.checkIntegrity()
    try line(problems.isEmpty ? "The file is sound." : problems.joined(separator: "\n"))
  }

  private func sayWhatToTry() throws {
    let database = Shell.quoted(path)
    try heading("The store is yours now. Try")
    for command in [
      "\(Program.name) models -d \(database)",
      "\(Program.name) query Track 'seconds > 300' --sort title --limit 5 -d \(database)",
      "\(Program.name) update Artist 2 name='The New Ones' -d \(database)",
      "\(Program.name) delete Artist 3 --dry-run -d \(database)",
      "\(Program.name) update Track 1 title= -d \(database)",
      "sqlite3 \(database) \"UPDATE Artist SET name = 'From the shell' WHERE id = 4\"",
      "\(Program.name) query Album 'artistID = 4' -d \(database)",
    ] {
      try line("  " + command)
    }
  }

  private func show(_ events: Events, _ store: Store) throws {
    store.waitForDelivery()
    for event in events.take() { try line("  " + event) }
  }

  private static func text(_ changes: QueryChanges<Track>) -> String {
    let parts =
      changes.deletions.map { "deleted at \($0.index)" }
      + changes.insertions.map { "inserted at \($0.index)" }
      + changes.moves.map { "moved \($0.oldIndex) -> \($0.newIndex)" }
      + changes.updates.map {
        "updated at \($0.newIndex) (\($0.fields.map(\.name).joined(separator: ", ")))"
      }
    return "\(changes.oldCount) -> \(changes.newCount) rows: \(parts.joined(separator: "; "))"
  }

  private static func quoted(_ text: String??) -> String {
    switch text {
    case .some(.some(let text)): "\"\(text)\""
    case .some(.none), .none: "nothing"
    }
  }

  private func heading(_ text: String) throws {
    try console.writeLine("")
    try console.writeLine(console.dataTerminal.palette.dressed(text, as: .heading))
  }

  private func line(_ text: String) throws {
    try console.writeLine("  " + text)
  }
}
