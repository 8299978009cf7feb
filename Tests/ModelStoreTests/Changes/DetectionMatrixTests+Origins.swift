import Testing

@testable import ModelStore

// Foreign keys, triggers, bindings, savepoints: the origin of changes, and what was rolled back.
extension DetectionMatrixTests {
  static let family = """
    CREATE TABLE p(id INTEGER PRIMARY KEY, n);
    CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, v);
    CREATE TABLE s(id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE SET NULL);
    INSERT INTO p VALUES (1, 'one'), (2, 'two');
    INSERT INTO c VALUES (10, 1, 'x'), (11, 1, 'y'), (12, 2, 'z');
    INSERT INTO s VALUES (20, 2);
    """

  @Test func deletionThatCascades() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(file.changes("DELETE FROM p WHERE id = 1")) == [
        "delete p 1 (1, 'one') user", "delete c 10 (10, 1, 'x') cascade",
        "delete c 11 (11, 1, 'y') cascade",
      ])
  }

  @Test func changeOfAReferencedKeyCascades() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(file.changes("UPDATE p SET id = 5 WHERE id = 1")) == [
        "delete p 1 (1, 'one') user", "insert p 5 (5, 'one') user",
        "update c 10 (p: 1 → 5 cascade)", "update c 11 (p: 1 → 5 cascade)",
      ])
  }

  @Test func referenceSetToNull() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(file.changes("DELETE FROM p WHERE id = 2")) == [
        "delete p 2 (2, 'two') user", "delete c 12 (12, 2, 'z') cascade",
        "update s 20 (p: 2 → NULL cascade)",
      ])
  }

  @Test func replaceThatCascades() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(file.changes("REPLACE INTO p VALUES (1, 'new')")) == [
        "update p 1 (n: 'one' → 'new' user) recreated", "delete c 10 (10, 1, 'x') cascade",
        "delete c 11 (11, 1, 'y') cascade",
      ])
  }

  @Test func recordUpdatedByTheUserThenDeletedByACascade() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(file.changes("UPDATE c SET v = 'w' WHERE id = 12", "DELETE FROM p WHERE id = 2")) == [
        "delete c 12 (12, 2, 'z') cascade", "delete p 2 (2, 'two') user",
        "update s 20 (p: 2 → NULL cascade)",
      ])
  }

  @Test func deferredReferenceThatFailsAtCommit() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY);
      CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO p VALUES (1);
      """)
    let before = try file.contents()
    for attempt in [file.store.writeReturningChanges, file.store.preview] as [Attempt] {
      let error = failure {
        _ = try attempt { tx in try tx.execute("INSERT INTO c VALUES (1, 7)") }
      }
      #expect(error?.code == .rejected)
      #expect(error?.violations.map(\.kind) == [.reference])
    }
    #expect(try file.contents() == before)
    #expect(
      try file.changes("INSERT INTO c VALUES (1, 7)", "INSERT INTO p VALUES (7)") == [
        "insert c 1 (1, 7) user", "insert p 7 (7) user",
      ])
  }

  private typealias Attempt = (
    (borrowing WriteTransaction) throws -> Void
  ) throws -> (value: Void, changes: ChangeSet)

  // Triggers

  static let chain = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
    CREATE TABLE u(id INTEGER PRIMARY KEY, n);
    CREATE TABLE w(id INTEGER PRIMARY KEY, n);
    CREATE TRIGGER first AFTER UPDATE OF a ON t BEGIN INSERT INTO u VALUES (NEW.id, NEW.a); END;
    CREATE TRIGGER second AFTER INSERT ON u BEGIN INSERT INTO w VALUES (NEW.id, NEW.n + 1); END;
    INSERT INTO t VALUES (1, 1, 1), (2, 2, 2);
    """

  @Test func chainOfTriggers() throws {
    let file = try DetectionFile(Self.chain)
    #expect(
      try file.changes("UPDATE t SET a = 5 WHERE id = 1") == [
        "update t 1 (a: 1 → 5 user)", "insert u 1 (1, 5) trigger:first",
        "insert w 1 (1, 6) trigger:second",
      ])
  }

  @Test func triggerThatChangesTheRowAgain() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TRIGGER stamp AFTER UPDATE OF a ON t WHEN NEW.b IS OLD.b
        BEGIN UPDATE t SET b = 'stamp' WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("UPDATE t SET a = 5 WHERE id = 1") == [
        "update t 1 (a: 1 → 5 user, b: 'x' → 'stamp' trigger:stamp)"
      ])
  }

  @Test func fieldSetByTheUserThenByATrigger() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TRIGGER fix AFTER UPDATE ON t WHEN NEW.a < 0
        BEGIN UPDATE t SET a = 0 WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("UPDATE t SET a = -5 WHERE id = 1") == ["update t 1 (a: 1 → 0 trigger:fix)"])
  }

  @Test func fieldSetByATriggerThenByTheUser() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TRIGGER fix AFTER UPDATE ON t WHEN NEW.a < 0
        BEGIN UPDATE t SET a = 0 WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("UPDATE t SET a = -5 WHERE id = 1", "UPDATE t SET a = 6 WHERE id = 1") == [
        "update t 1 (a: 1 → 6 user)"
      ])
  }

  @Test func rowTouchedByATriggerThenByTheUser() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TABLE u(id INTEGER PRIMARY KEY);
        CREATE TRIGGER mark AFTER INSERT ON u BEGIN UPDATE t SET b = 'marked' WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("INSERT INTO u VALUES (1)", "UPDATE t SET a = 6 WHERE id = 1") == [
        "insert u 1 (1) user", "update t 1 (a: 1 → 6 user, b: 'x' → 'marked' trigger:mark)",
      ])
  }

  @Test func rowSetByATriggerThenReplacedByTheUser() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TABLE u(id INTEGER PRIMARY KEY);
        CREATE TRIGGER mark AFTER INSERT ON u BEGIN UPDATE t SET b = 'marked' WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("INSERT INTO u VALUES (1)", "REPLACE INTO t VALUES (1, 7, 'own')") == [
        "insert u 1 (1) user", "update t 1 (a: 1 → 7 user, b: 'x' → 'own' user) recreated",
      ])
  }

  @Test func rowInsertedByATriggerDeletedAndInsertedByTheUser() throws {
    let file = try DetectionFile(Self.chain)
    #expect(
      try file.changes(
        "UPDATE t SET a = 5 WHERE id = 1", "DELETE FROM u WHERE id = 1",
        "DELETE FROM w WHERE id = 1",
        "INSERT INTO u VALUES (1, 0)", "DELETE FROM w WHERE id = 1") == [
          "update t 1 (a: 1 → 5 user)", "insert u 1 (1, 0) user",
        ])
  }

  @Test func triggerThatRunsItself() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n);
      INSERT INTO t VALUES (1, 0), (2, 0), (3, 0);
      CREATE TRIGGER down AFTER UPDATE ON t WHEN NEW.id < 3
      BEGIN UPDATE t SET n = NEW.n + 1 WHERE id = NEW.id + 1; END;
      """)
    #expect(
      try file.changes("UPDATE t SET n = 10 WHERE id = 1") == [
        "update t 1 (n: 0 → 10 user)", "update t 2 (n: 0 → 11 trigger:down)",
        "update t 3 (n: 0 → 12 trigger:down)",
      ])
  }

  @Test func insteadOfTriggerOnAView() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE VIEW v AS SELECT id, a FROM t;
        CREATE TRIGGER through INSTEAD OF UPDATE ON v
        BEGIN UPDATE t SET a = NEW.a WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes("UPDATE v SET a = 8 WHERE id = 2") == [
        "update t 2 (a: 2 → 8 trigger:through)"
      ])
  }

  @Test func triggerThatDeletesWhatCascades() throws {
    let file = try DetectionFile(
      Self.family + """
        CREATE TABLE log(id INTEGER PRIMARY KEY, gone);
        CREATE TRIGGER note AFTER DELETE ON c BEGIN INSERT INTO log(gone) VALUES (OLD.id); END;
        """)
    #expect(
      try Set(file.changes("DELETE FROM p WHERE id = 1")) == [
        "delete p 1 (1, 'one') user", "delete c 10 (10, 1, 'x') cascade",
        "delete c 11 (11, 1, 'y') cascade", "insert log 1 (1, 10) trigger:note",
        "insert log 2 (2, 11) trigger:note",
      ])
  }

  @Test(arguments: ["ABORT", "FAIL"])
  func raiseInATriggerLeavesTheTransaction(_ kind: String) throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TRIGGER guard AFTER UPDATE ON t WHEN NEW.a > 100
        BEGIN UPDATE t SET b = 'seen' WHERE id = NEW.id AND b <> 'seen';
        SELECT RAISE(\(kind), 'too large'); END;
        """)
    let kept =
      kind == "ABORT"
      ? []
      : [
        "update t 1 (a: 1 → 2 user)", "update t 2 (a: 2 → 200 user, b: 'y' → 'seen' trigger:guard)",
      ]
    #expect(
      try file.changesAroundFailure(
        of: "UPDATE t SET a = CASE id WHEN 1 THEN 2 ELSE 200 END WHERE id < 3",
        then: ["UPDATE t SET b = 'last' WHERE id = 3"]) == kept + [
          "update t 3 (b: 'z' → 'last' user)"
        ])
  }

  @Test func raiseRollbackEndsTheTransaction() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TRIGGER guard AFTER UPDATE ON t WHEN NEW.a > 100
        BEGIN SELECT RAISE(ROLLBACK, 'too large'); END;
        """)
    let before = try file.contents()
    let error = failure {
      try file.store.writeReturningChanges { tx in
        try tx.execute("UPDATE t SET b = 'first'")
        failure { try tx.execute("UPDATE t SET a = 200") }
      }
    }
    #expect(error?.code == .rejected)
    #expect(try file.contents() == before)
    #expect(try file.changes("UPDATE t SET a = 7 WHERE id = 1") == ["update t 1 (a: 1 → 7 user)"])
  }

  // Bindings

  static let music = """
    CREATE TABLE Artist(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE Album(id INTEGER PRIMARY KEY, artist INTEGER REFERENCES Artist, artistName TEXT, title TEXT);
    INSERT INTO Artist VALUES (1, 'Miles'), (2, 'Bill');
    INSERT INTO Album VALUES (1, 1, 'Miles', 'So What'), (2, 1, 'Miles', 'Blue'), (3, 2, 'Bill', 'Waltz');
    """
  static let followsArtist = FieldBinding.copy(
    from: "Artist.name", to: "Album.artistName", through: "Album.artist", name: "follow")

  @Test func bindingFollowsItsSource() throws {
    let file = try DetectionFile(Self.music, bindings: [Self.followsArtist])
    #expect(
      try file.changes("UPDATE Artist SET name = 'M. Davis' WHERE id = 1") == [
        "update Artist 1 (name: 'Miles' → 'M. Davis' user)",
        "update Album 1 (artistName: 'Miles' → 'M. Davis' binding:follow)",
        "update Album 2 (artistName: 'Miles' → 'M. Davis' binding:follow)",
      ])
  }

  @Test func bindingFollowsItsReference() throws {
    let file = try DetectionFile(Self.music, bindings: [Self.followsArtist])
    #expect(
      try file.changes("UPDATE Album SET artist = 2, title = 'T' WHERE id = 1") == [
        "update Album 1 (artist: 1 → 2 user, artistName: 'Miles' → 'Bill' binding:follow, "
          + "title: 'So What' → 'T' user)"
      ])
  }

  @Test func aBoundFieldWrittenByTheUserIsRestored() throws {
    let file = try DetectionFile(Self.music, bindings: [Self.followsArtist])
    #expect(try file.changes("UPDATE Album SET artistName = 'Nobody' WHERE id = 1") == [])
    #expect(
      try file.changes("INSERT INTO Album VALUES (4, 2, 'Nobody', 'New')") == [
        "insert Album 4 (4, 2, 'Bill', 'New') user"
      ])
  }

  // Savepoints

  @Test func savepointRolledBack() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes { tx in
        try tx.execute("UPDATE t SET a = 5 WHERE id = 1")
        try? tx.savepoint { tx in
          try tx.execute("UPDATE t SET a = 6 WHERE id = 1")
          try tx.execute("DELETE FROM t WHERE id = 2")
          try tx.execute("INSERT INTO t VALUES (9, 9, 9)")
          throw Undo()
        }
      } == ["update t 1 (a: 1 → 5 user)"])
  }

  @Test func savepointKept() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes { tx in
        try tx.savepoint { tx in
          try tx.savepoint { tx in try tx.execute("UPDATE t SET a = 6 WHERE id = 1") }
          try? tx.savepoint { tx in
            try tx.execute("UPDATE t SET a = 7 WHERE id = 1")
            throw Undo()
          }
        }
      } == ["update t 1 (a: 1 → 6 user)"])
  }

  @Test func savepointRolledBackLeavesNoOrigin() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TABLE u(id INTEGER PRIMARY KEY);
        CREATE TRIGGER mark AFTER INSERT ON u BEGIN UPDATE t SET b = 'marked', a = 0 WHERE id = NEW.id; END;
        """)
    #expect(
      try file.changes { tx in
        try tx.execute("UPDATE t SET a = 5 WHERE id = 2")
        try? tx.savepoint { tx in
          try tx.execute("INSERT INTO u VALUES (1)")
          try tx.execute("INSERT INTO u VALUES (2)")
          throw Undo()
        }
        try tx.execute("UPDATE t SET b = 'mine' WHERE id < 3")
      } == [
        "update t 2 (a: 2 → 5 user, b: 'y' → 'mine' user)", "update t 1 (b: 'x' → 'mine' user)",
      ])
  }

  @Test func savepointRolledBackLeavesNoOriginOfADeletion() throws {
    let file = try DetectionFile(Self.family)
    #expect(
      try Set(
        file.changes { tx in
          try? tx.savepoint { tx in
            try tx.execute("DELETE FROM p WHERE id = 1")
            throw Undo()
          }
          try tx.execute("DELETE FROM c WHERE id = 10")
        }) == ["delete c 10 (10, 1, 'x') user"])
  }

  @Test func savepointRolledBackRecreatesNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes { tx in
        try? tx.savepoint { tx in
          try tx.execute("DELETE FROM t WHERE id = 1")
          try tx.execute("INSERT INTO t VALUES (1, 8, 8)")
          throw Undo()
        }
        try tx.execute("UPDATE t SET a = 5 WHERE id = 1")
      } == ["update t 1 (a: 1 → 5 user)"])
  }

  @Test func deletionOutsideAndInsertionInsideASavepointRolledBack() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes { tx in
        try tx.execute("DELETE FROM t WHERE id = 1")
        try? tx.savepoint { tx in
          try tx.execute("INSERT INTO t VALUES (1, 8, 8)")
          throw Undo()
        }
      } == ["delete t 1 (1, 1, 'x') user"])
  }

  @Test(arguments: [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT x", "RELEASE x", " -- c\n/* d */ rollback",
    "ATTACH ':memory:' AS other", "DETACH other", "VACUUM",
  ])
  func transactionControlIsRefused(_ statement: String) throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changesAroundFailure(of: statement, after: "UPDATE t SET a = 5 WHERE id = 1")
        == ["update t 1 (a: 1 → 5 user)"])
  }
}
