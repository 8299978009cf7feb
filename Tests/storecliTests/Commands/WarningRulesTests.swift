import Testing

/// Rules that only warn are reported where a person sees them, and fail nothing.
@Suite(.tags(.process)) struct WarningRulesTests {
  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    let added = try place.run(
      "rules", "add", "Track", "--range", "seconds=20..", "--severity", "warning", "--name",
      "Track.short")
    try #require(added.code == 0, "\(added)")
    return place
  }

  private let warning =
    "warning[rule]: Track 1.seconds must be 20 or greater (rule Track.short). The rule only warns, so "

  @Test func aWriteIsMadeAndPrintsTheWarning() throws {
    let place = try place()
    let dry = try place.run("update", "Track", "1", "seconds=10", "-n")
    #expect(dry.code == 0 && dry.err.hasSuffix(warning + "the change would be made.\n"), "\(dry)")
    let made = try place.run("update", "Track", "1", "seconds=10")
    #expect(made.code == 0 && made.err == warning + "the change was made.\n", "\(made)")
    // Only what a write changes is judged.
    #expect(try place.run("update", "Track", "1", "title=x").err == "")
    #expect(try place.run("update", "Track", "1", "seconds=30").err == "")
    let inserted = try place.run("insert", "Track", "title=x", "seconds=5", "albumID=1", "-q")
    #expect(inserted.code == 0 && inserted.err.hasPrefix("warning[rule]: Track "), "\(inserted)")
  }

  @Test func severalRecordsAreCountedAndTheFirstListed() throws {
    let place = try place()
    let made = try place.run("update", "Track", "--where", "id <= 7", "seconds=10", "--yes")
    #expect(
      made.err == """
        7 Track updated
        warning[rule]: 7 records break a rule. The rule only warns, so the change was made.
          Track 1.seconds  must be 20 or greater  (rule Track.short)
          Track 2.seconds  must be 20 or greater  (rule Track.short)
          Track 3.seconds  must be 20 or greater  (rule Track.short)
          Track 4.seconds  must be 20 or greater  (rule Track.short)
          Track 5.seconds  must be 20 or greater  (rule Track.short)
          and 2 more

        """)
    #expect(made.code == 0)
  }

  @Test func aRefusedWriteHasNoWarning() throws {
    let place = try place()
    let refused = try place.run("update", "Track", "1", "seconds=0")
    #expect(refused.code == 4 && !refused.err.contains("warning"), "\(refused)")
  }

  @Test func doctorReportsTheWarningAndDoesNotFail() throws {
    let place = try place()
    try place.run("update", "Track", "1", "seconds=10")
    let doctor = try place.run("doctor", "-q")
    #expect(
      doctor.out.contains("rules\twarning\tTrack.seconds must be 20 or greater: 1 record (1)\n"),
      "\(doctor)")
    #expect(doctor.code == 0)
    try place.run(
      "rules", "add", "Track", "--range", "seconds=20..", "--severity", "error",
      "--name", "Track.short", "--keep-violations")
    #expect(try place.run("doctor", "-q").code == 2)
  }
}
