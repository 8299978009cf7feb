import Testing

@testable import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(.tags(.unit)) struct FieldReferencesTests {
  private typealias Song = QueryFixtures.Song
  private typealias Predicate = StoreQuery<QueryFixtures.Song>.Predicate

  private func line(
    _ build: (FieldReferences<Song>) -> StoreQuery<Song>.Predicate
  ) throws -> String {
    let condition = try #require(Song.where(build).condition)
    return try QueryFixtures.line(condition, Song.schema)
  }

  @Test func operatorsBecomeSQL() throws {
    let year: Date? = Date(timeIntervalSinceReferenceDate: 86_400)
    let lines = [
      try line { $0.milliseconds > 300_000 && $0.title.like("So%") },
      try line { $0.id == 1 || $0.id != 2 || $0.id < 3 || $0.id <= 4 || $0.id >= 5 },
      try line { !($0.rating == 4.5) },
      try line { $0.isLive == true && $0.released == year },
      try line { $0.milliseconds.between(1, 2) || $0.rating.between(1, 2.5) },
      try line { $0.id.in([1, 2]) && $0.genre.in(["Rock", "Jazz"]) },
      try line { $0.genre.glob("R*") && $0.genre.isDistinct(from: "Rock") },
      try line { $0.title.optional == $0.genre || $0.title != $0.title },
      try line { $0.price == Decimal(2) && .sql("length(title) > \(10)") },
    ]
    #expect(
      lines == [
        #""milliseconds" > 300000 AND "title" LIKE 'So%'"#,
        #""id" = 1 OR "id" <> 2 OR "id" < 3 OR "id" <= 4 OR "id" >= 5"#,
        #"NOT ("rating" = 4.5)"#,
        #""isLive" = 1 AND "released" = 86400.0"#,
        #""milliseconds" BETWEEN 1 AND 2 OR "rating" BETWEEN 1.0 AND 2.5"#,
        #""id" IN (1, 2) AND "genre ""name""" IN ('Rock', 'Jazz')"#,
        #""genre ""name""" GLOB 'R*' AND "genre ""name""" IS NOT 'Rock'"#,
        #""title" = "genre ""name""" OR "title" <> "title""#,
        #""price" = '2' AND (length(title) > 10)"#,
      ])
  }

  @Test func anOptionalFieldTakesRequiredValues() throws {
    let genres = ["Rock"]
    let genre = "Jazz"
    #expect(
      try line { $0.genre.in(genres) || $0.genre == genre || $0.genre < "A" }
        == #""genre ""name""" IN ('Rock') OR "genre ""name""" = 'Jazz' OR "genre ""name""" < 'A'"#)
  }

  @Test func comparingWithNilTestsForNull() throws {
    let nothing: String? = nil
    let number: Int? = nil
    let lines = [
      try line { $0.genre == nil && $0.genre != nil },
      try line { $0.genre == nothing || $0.genre != nothing },
      try line { $0.milliseconds == number },
      try line { $0.genre.isNull || $0.rating.isNotNull },
      try line { $0.genre.isDistinct(from: nil) && $0.genre.in(["Rock", nil]) },
    ]
    #expect(
      lines == [
        #""genre ""name""" IS NULL AND "genre ""name""" IS NOT NULL"#,
        #""genre ""name""" IS NULL OR "genre ""name""" IS NOT NULL"#,
        #""milliseconds" IS NULL"#,
        #""genre ""name""" IS NULL OR "rating" IS NOT NULL"#,
        #""genre ""name""" IS NOT NULL AND "genre ""name""" IN ('Rock', NULL)"#,
      ])
  }

  @Test func aPrefixIsLiteral() throws {
    let query = Song.where { $0.title.hasPrefix("[5*?]%_\\") }
    let pattern = try #require(query.condition)
    #expect(pattern == .glob(.field(1), pattern: "[[]5[*][?]]%_\\*"))
    let evaluate = try #require(ConditionEvaluator(pattern, schema: Song.schema))
    func matches(_ title: String) -> Bool? {
      evaluate([.integer(1), .text(title)] + Array(repeating: SQLValue.null, count: 6))
    }
    #expect(
      ["[5*?]%_\\", "[5*?]%_\\ and more", "[5xx]%_\\", "5*?]%_\\"].map(matches)
        == [true, true, false, false])
  }

  @Test func valuesThatCannotBeStoredThrowWhenTheQueryIsUsed() {
    let queries = [
      Song.where { $0.rating == .nan }, Song.where { $0.id == 1 || !($0.rating < .nan) },
      Song.where { $0.rating.in([1, .nan]) }, Song.where { $0.price < Decimal(3) },
      Song.where { $0.title.like("a\0b") }, Song.where { $0.title.glob("\0") },
    ]
    let messages = queries.map { query in
      do throws(StoreError) {
        return QueryFixtures.line(try query.selectText())
      } catch {
        return error.message
      }
    }
    #expect(
      messages == [
        "Song.rating: NaN cannot be stored.", "Song.rating: NaN cannot be stored.",
        "Song.rating: NaN cannot be stored.",
        "Song.price: a decimal is stored as text and cannot be compared by size in SQL.",
        "Song.title: a pattern cannot contain NUL.", "Song.title: a pattern cannot contain NUL.",
      ])
  }

  @Test func ordersAreBuiltStepByStep() {
    let byTitleFirst = false
    let query = Song.all.order {
      if byTitleFirst { $0.title }
      $0.genre.nullsLast
      $0.title.descending.nullsFirst.collate(.nocase)
      $0.rating.collate(.rtrim)
    }.limit(20, offset: 40)
    #expect(
      query
        == StoreQuery(
          Song.schema,
          orderings: [
            QueryOrdering(fieldIndex: 3, nulls: .last),
            QueryOrdering(fieldIndex: 1, direction: .descending, nulls: .first, collation: .nocase),
            QueryOrdering(fieldIndex: 4, collation: .rtrim),
          ], limit: 20, offset: 40))
    #expect(Song.all.order { $0.title }.orderings == [QueryOrdering(fieldIndex: 1)])
  }

  @Test func filtersAreCombinedWithAnd() throws {
    let query = Song.where { $0.id > 1 }.filter { $0.isLive == false }
    #expect(
      try QueryFixtures.line(#require(query.condition), Song.schema)
        == #""id" > 1 AND "isLive" = 0"#)
    #expect(Song.all.condition == nil)
  }

  @Test func aggregatesNameAKeyPath() throws {
    #expect(
      QueryFixtures.line(try Song.where { $0.isLive == true }.aggregateText(.average, of: \.rating))
        == #"SELECT avg("rating") FROM "songs" WHERE "isLive" = 1"#)
  }

  @Test(.ownThreads) func aComputedPropertyTraps() async {
    await #expect(processExitsWith: .failure) {
      _ = QueryFixtures.Song.where { $0.seconds > 1 }
    }
  }
}
