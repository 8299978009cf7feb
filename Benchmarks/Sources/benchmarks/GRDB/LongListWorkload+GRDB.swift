import GRDB

extension LongListWorkload {
  /// GRDB has no lists. This is the usual code: a position column, and an update of every position
  /// after the edit.
  var grdbContenders: [Contender] {
    [
      Contender(library: .grdb, name: "GRDB, position column") { directory in
        let queue = try DatabaseQueue.open(directory.file("list.sqlite"), synchronous: .normal)
        try queue.write { database in
          try database.execute(
            sql: """
              CREATE TABLE slot (
                id INTEGER PRIMARY KEY,
                list INTEGER NOT NULL,
                position INTEGER NOT NULL,
                element INTEGER NOT NULL
              );
              CREATE INDEX slot_order ON slot (list, position);
              """)
          let insert = try database.cachedStatement(
            sql: "INSERT INTO slot (list, position, element) VALUES (1, ?, ?)")
          for index in 0..<slotCount {
            insert.setUncheckedArguments([index, element(at: index)])
            try insert.execute()
          }
        }
        var generator = SeededGenerator(seed: 0x10_115)
        var number = 0
        return Session(policy: try queue.policy()) {
          try queue.emptyLog()
          return Measurement(
            try Stopwatch.collect(limit: editCount, countMin: 3) { _ in
              let edit = Edit.allCases[number % Edit.allCases.count]
              number += 1
              let start = Stopwatch.now
              try queue.write { try apply(edit, in: $0, using: &generator) }
              return Stopwatch.now - start
            })
        }
      }
    ]
  }

  private func apply(
    _ edit: Edit, in database: Database, using generator: inout SeededGenerator
  ) throws {
    let place = Int.random(in: 0..<slotCount, using: &generator)
    func shift(from first: Int, to last: Int, by step: Int) throws {
      try database.execute(
        sql: """
          UPDATE slot SET position = position + ?
          WHERE list = 1 AND position BETWEEN ? AND ?
          """, arguments: [step, first, last])
    }
    switch edit {
    case .insert:
      try shift(from: place, to: slotCount, by: 1)
      try database.execute(
        sql: "INSERT INTO slot (list, position, element) VALUES (1, ?, ?)",
        arguments: [place, element(at: place)])
    case .move:
      let target = Int.random(in: 0..<slotCount, using: &generator)
      let id = try Int64.fetchOne(
        database, sql: "SELECT id FROM slot WHERE list = 1 AND position = ?", arguments: [place])
      if target < place {
        try shift(from: target, to: place - 1, by: 1)
      } else {
        try shift(from: place + 1, to: target, by: -1)
      }
      try database.execute(
        sql: "UPDATE slot SET position = ? WHERE id = ?", arguments: [target, id])
    case .remove:
      try database.execute(
        sql: "DELETE FROM slot WHERE list = 1 AND position = ?", arguments: [place])
      try shift(from: place + 1, to: slotCount, by: -1)
    }
  }
}
