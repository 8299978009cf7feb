import Foundation
import Testing

@testable import ModelStore

/// Random transactions against a model of the rules: what the model accepts is committed unchanged,
/// what it refuses leaves no trace in the file and reaches no observer.
/// `MODELSTORE_SEED` shifts the seed, and `MODELSTORE_RULE_TRANSACTIONS` says how many.
@Suite(.tags(.law)) struct RuleLawTests {
  /// The rules once more, in Swift.
  private struct World: Equatable {
    var rooms: [Int64: String] = [:]
    var bookings: [Int64: Booking] = [:]

    /// What is wrong after one statement that left the booking with that key.
    func isGood(_ key: Int64, before: Booking?) -> Bool {
      guard let booking = bookings[key] else { return true }
      let others = bookings.values.filter { $0.id != key && $0.room == booking.room }
      guard !booking.guest.trimmingCharacters(in: [" "]).isEmpty, booking.price >= 0,
        booking.end > booking.start, booking.room.map({ rooms[$0] != nil }) ?? true,
        before.map({ $0.guest == booking.guest }) ?? true
      else { return false }
      guard booking.room != nil else { return true }
      return others.count < 3
        && others.allSatisfy { $0.end <= booking.start || booking.end <= $0.start }
        && others.reduce(booking.price) { $0 + $1.price } <= 25
        && (booking.note != "late" || others.allSatisfy { $0.note != "late" })
    }

    /// Whether the validators in Swift let the whole transaction pass.
    func mayFollow(_ before: World) -> Bool {
      let changed = Set(bookings.keys).union(before.bookings.keys)
        .filter { bookings[$0] != before.bookings[$0] }
      let titles = changed.compactMap { key -> String? in
        let new = bookings[key]?.guest
        return new == before.bookings[key]?.guest ? nil : new
      }
      return !titles.contains("Eve") && (changed.isEmpty || bookings.count <= 6)
    }
  }

  private enum Step {
    case insert(Booking)
    case update(Booking)
    case upsert(Booking)
    case delete(Int64)
    case setEnd(Int64, Int)
    case setRoom(Int64, Int64?)
    case insertRoom(Int64, String)
    case deleteRoom(Int64)
    case fail

    func run(_ tx: borrowing WriteTransaction) throws {
      switch self {
      case .insert(let booking): try tx.insert(booking)
      case .update(let booking): try tx.update(booking)
      case .upsert(let booking): try tx.upsert(booking)
      case .delete(let key): try tx.delete(Booking.self, key)
      case .setEnd(let key, let end):
        try tx.execute("UPDATE Booking SET \"end\" = \(end) WHERE id = \(key)")
      case .setRoom(let key, let room): try tx.set(\Booking.room, to: room, for: key)
      case .insertRoom(let key, let name): try tx.insert(Room(id: key, name: name))
      case .deleteRoom(let key): try tx.delete(Room.self, key)
      case .fail: throw CancellationError()
      }
    }

    /// - Returns: Whether the statement may.
    func run(_ world: inout World) -> Bool {
      func put(_ booking: Booking, _ isThere: Bool?) -> Bool {
        let before = world.bookings[booking.id]
        if let isThere, isThere != (before != nil) { return false }
        world.bookings[booking.id] = booking
        return world.isGood(booking.id, before: before)
      }
      switch self {
      case .insert(let booking): return put(booking, false)
      case .update(let booking): return put(booking, true)
      case .upsert(let booking): return put(booking, nil)
      case .delete(let key): world.bookings[key] = nil
      case .setEnd(let key, let end):
        guard var booking = world.bookings[key] else { return true }
        booking.end = end
        return put(booking, true)
      case .setRoom(let key, let room):
        guard var booking = world.bookings[key] else { return false }
        booking.room = room
        return put(booking, true)
      case .insertRoom(let key, let name):
        guard world.rooms[key] == nil, !world.rooms.values.contains(name) else { return false }
        world.rooms[key] = name
      case .deleteRoom(let key):
        world.rooms[key] = nil
        for (id, booking) in world.bookings where booking.room == key { world.bookings[id] = nil }
      case .fail: return false
      }
      return true
    }
  }

  private static func step(_ random: inout SeededGenerator) -> Step {
    let key = Int64.random(in: 1...9, using: &random)
    let room = Int64.random(in: 0...3, using: &random)
    let start = Int.random(in: 0...12, using: &random)
    let booking = Booking(
      id: key, room: room == 0 ? nil : room,
      guest: ["Ada", "Ada", "Ada", "Bo", " ", "Eve"].randomElement(using: &random) ?? "Ada",
      start: start, end: start + Int.random(in: 0...4, using: &random),
      price: Double(Int.random(in: -1...12, using: &random)),
      note: [nil, nil, "late"].randomElement(using: &random) ?? nil)
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<7: return .insert(booking)
    case 7..<9: return .update(booking)
    case 9..<12: return .upsert(booking)
    case 12..<15: return .delete(key)
    case 15..<18: return .setEnd(key, start)
    case 18..<20: return .setRoom(key, room == 0 ? nil : room)
    case 20..<22: return .insertRoom(max(1, room), ["Blue", "Red", "Green"][Int(room) % 3])
    case 22: return .deleteRoom(max(1, room))
    default: return .fail
    }
  }

  private static func store(in directory: TemporaryDirectory) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    return try Store(
      at: directory.file("hotel.store"), models: Room.self, Booking.self,
      rules: [
        .condition("Booking.forward", of: Booking.self, "\"end\" > start", "must end later"),
        .immutable(\Booking.guest),
        .unique("Booking.oneLate", \Booking.room, where: "note = 'late'"),
        .atMost(3, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"),
        .sum(\Booking.price, atMost: 25, per: \Booking.room, name: "Booking.budget"),
        .noOverlap(
          from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
      ],
      validators: [
        Validator("Booking.notEve", \Booking.guest) { _, guest, _ in
          guest == "Eve" ? .reject("must not be Eve") : .accept
        },
        Validator("Booking.few", over: Booking.self) { _, reads in
          try reads.count(Booking.all) > 6 ? [Rejection("must be six at most")] : []
        },
      ], configuration: configuration)
  }

  /// Hashes everything that the file holds, as other programs see it: the rows of all tables, those
  /// of the catalog, `sqlite_schema` and `sqlite_sequence` among them.
  private struct FileContents {
    private let file: PlainDatabase
    private let query: String

    /// Takes the tables that are there now. Adds one with a sequence, which a trigger moves at each
    /// insert.
    init(_ path: String) throws {
      file = try PlainDatabase(path)
      try file.execute(
        """
        CREATE TABLE log (n INTEGER PRIMARY KEY AUTOINCREMENT, booking INTEGER);
        CREATE TRIGGER noted AFTER INSERT ON Booking BEGIN
          INSERT INTO log (booking) VALUES (NEW.id);
          DELETE FROM log WHERE n < last_insert_rowid() - 9;
        END;
        """)
      let made = try file.rows(
        """
        SELECT 'SELECT ' || group_concat(part, ', ') FROM (
          SELECT '(SELECT group_concat('
            || group_concat('quote("' || c.name || '")', ' || '','' || ')
            || ', char(10)) FROM "' || t.name || '")' AS part
          FROM (
            SELECT name FROM sqlite_schema WHERE type = 'table'
            UNION ALL SELECT 'sqlite_schema'
          ) AS t, pragma_table_info(t.name) AS c
          GROUP BY t.name
        )
        """)
      guard case .text(let query)? = made.first?.first else {
        throw PlainDatabase.Failure(code: 1, description: "no query")
      }
      self.query = query
    }

    /// How many tables are hashed.
    var tableCount: Int {
      get throws { try file.rows(query)[0].count }
    }

    var hash: Int {
      get throws { try file.rows(query).hashValue }
    }
  }

  @Test func aTransactionCommitsExactlyWhenTheRulesSaySo() throws {
    let count =
      ProcessInfo.processInfo.environment["MODELSTORE_RULE_TRANSACTIONS"].flatMap { Int($0) }
      ?? 5_000
    let seed: UInt64 = 41
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    try Self.store(in: directory).close()
    let contents = try FileContents(directory.file("hotel.store"))
    let store = try Self.store(in: directory)
    // The models, the log, sqlite_schema and sqlite_sequence at least, and the catalog.
    try #require(try contents.tableCount > 5)
    var hash = try contents.hash
    let heard = Recorder<Int>()
    let subscriptions = [
      try store.observe(Booking.self) { heard.add($0.changes.count) },
      try store.observe(Room.self) { heard.add($0.changes.count) },
    ]
    var world = World()
    var commits = 0
    for number in 0..<count {
      let steps = (0...Int.random(in: 0...2, using: &random)).map { _ in Self.step(&random) }
      var after = world
      let mayStand = steps.allSatisfy { $0.run(&after) } && after.mayFollow(world)
      var stood = true
      do {
        try store.write { tx in for step in steps { try step.run(tx) } }
      } catch let error as StoreError {
        #expect([.rejected, .recordNotFound].contains(error.code), "\(error)")
        #expect(error.code != .rejected || !error.violations.isEmpty)
        stood = false
      } catch is CancellationError {
        stood = false
      }
      try #require(stood == mayStand, "seed \(seed), transaction \(number): \(steps)")
      store.waitForDelivery()
      let now = try contents.hash
      if stood {
        #expect(heard.taken().isEmpty == (after == world), "seed \(seed), transaction \(number)")
        #expect(now != hash || after == world, "seed \(seed), transaction \(number)")
        world = after
        hash = now
        commits += 1
      } else {
        #expect(now == hash, "seed \(seed), transaction \(number): \(steps)")
        #expect(heard.taken() == [], "seed \(seed), transaction \(number)")
      }
      let found = try store.read { reads in
        World(
          rooms: Dictionary(
            uniqueKeysWithValues: try reads.fetch(Room.all).map { ($0.id, $0.name) }),
          bookings: Dictionary(
            uniqueKeysWithValues: try reads.fetch(Booking.all).map { ($0.id, $0) }))
      }
      try #require(found == world, "seed \(seed), transaction \(number): \(steps)")
    }
    // Both ends of the law were met.
    #expect(commits > count / 10 && commits < count * 9 / 10)
    for subscription in subscriptions { subscription.cancel() }
  }
}
