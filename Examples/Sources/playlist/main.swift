import ModelStore

let store = try Store(
  at: CommandLine.arguments.dropFirst().first ?? "music.store",
  models: Artist.self, Track.self,
  bindings: [.copy(\Artist.name, to: \Track.artistName, through: \Track.artistID)],
  validators: [
    Validator("Track.noDemos", Track.self) { change, _ in
      guard let track = change.new, track.title.hasSuffix("(demo)") else { return .accept }
      return .reject("must not be a demo", \.title)
    }
  ])

// One transaction: either all of it is committed, or nothing.
try store.write { tx in
  try tx.upsert(Artist(id: 1, name: "Miles"))
  try tx.upsert(Track(id: 1, title: "So What", milliseconds: 545_000, artistID: 1))
  try tx.upsert(Track(id: 2, title: "Blue in Green", milliseconds: 337_000, artistID: 1))
  try tx.upsert(
    Track(id: 3, title: "Miles Runs the Voodoo Down", milliseconds: 843_000, artistID: 1))
}

// One field of one record. The observation ends when `name` is dropped.
let name = try store.observe(\Track.artistName, of: 1) { change in
  print("artistName: \(change.old ?? "none") → \(change.new ?? "none"), by \(change.origin)")
}

// A filtered, sorted list that is kept up to date, with the indices of the changed rows.
let long = try store.liveQuery(Track.where { $0.milliseconds > 300_000 }.order { $0.title })
let list = try long.observe { changes in
  for row in changes.deletions { print("long tracks: - \(row.index)") }
  for row in changes.insertions { print("long tracks: + \(row.index) \(row.record.title)") }
  for row in changes.moves { print("long tracks: \(row.oldIndex) → \(row.newIndex)") }
}

try store.write { tx in
  try tx.set(\Track.title, to: "All Blues", for: 1)
  try tx.set(\Track.milliseconds, to: 240_000, for: 2)
}

// The binding is in the file, so it updates the bound field for every writer.
try store.write { tx in try tx.set(\Artist.name, to: "Miles Davis", for: 1) }

// Observers are called on a queue of the store. This waits until all changes are delivered.
store.waitForDelivery()

// A refused transaction changes nothing, and the error lists every violation.
do {
  try store.write { tx in
    try tx.set(\Track.title, to: "So What (demo)", for: 1)
    try tx.set(\Track.title, to: "Solea (demo)", for: 3)
  }
} catch let error as StoreError where error.code == .rejected {
  for violation in error.violations {
    print("refused: \(violation.model) \(violation.key ?? []) \(violation.message)")
  }
}

print(try store.fetch(long.query).map(\.title))
