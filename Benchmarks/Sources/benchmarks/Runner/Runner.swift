/// Runs the contenders of a workload in turn, A B C A B C, so that a machine that slows down or
/// speeds up affects all of them alike.
struct Runner {
  let runs: Int
  /// The library whose contenders run; nil for all.
  let library: Contender.Library?
  /// A part of the names of the contenders that run; nil for all.
  let contender: String?

  /// Opens every contender, runs each once as a warm-up, then `runs` times with measurement.
  ///
  /// - Throws: ``BenchmarkFailure`` when two contenders differ in durability settings or in the
  ///   rows they read or wrote, because a ratio between them would be meaningless.
  func run(_ workload: Workload, in root: TemporaryDirectory) async throws -> WorkloadResult {
    let directory = try root.subdirectory(workload.id)
    defer { directory.remove() }
    let chosen = workload.contenders().filter { contender in
      (library == nil || contender.library == library)
        && (self.contender.map { contender.name.contains($0) } ?? true)
    }
    var contenders: [Contender] = []
    var sessions: [Session] = []
    var missing: [String] = []
    for (index, contender) in chosen.enumerated() {
      let place = try directory.subdirectory(String(index))
      do {
        sessions.append(try await contender.open(place))
        contenders.append(contender)
      } catch let peer as MissingPeer {
        missing.append("\(contender.name): \(peer.message)")
        StandardError.print("MISSING in \(workload.id): \(contender.name): \(peer.message)")
      }
    }
    try requireOnePolicy(of: zip(contenders, sessions), in: workload)

    var measurements: [[Measurement]] = Array(repeating: [], count: sessions.count)
    for round in 0...runs {
      for (index, session) in sessions.enumerated() {
        if let most = contenders[index].runCountMax, !(1...most).contains(round) { continue }
        let measurement = try await session.run()
        // Round 0 warms caches, allocators and lazily opened connections.
        if round > 0 { measurements[index].append(measurement) }
      }
    }
    try requireOneDigest(of: measurements, in: workload)
    return WorkloadResult(
      workload: workload, policy: sessions.first?.policy ?? [:],
      results: zip(contenders, measurements).map { ($0, $1) }, missing: missing)
  }

  private func requireOnePolicy(
    of opened: some Sequence<(Contender, Session)>, in workload: Workload
  ) throws {
    var yardstick: [String: String]?
    for (contender, session) in opened {
      let expected = yardstick ?? session.policy
      yardstick = expected
      let unlike = expected.filter { session.policy[$0.key] != $0.value }.keys.sorted()
      guard unlike.isEmpty else {
        let details = unlike.map { name in
          "\(name) is \(session.policy[name] ?? "unset"), not \(expected[name] ?? "unset")"
        }
        throw BenchmarkFailure(
          "\(workload.id): \(contender.name) runs under other settings: "
            + details.joined(separator: "; ") + ".")
      }
    }
  }

  private func requireOneDigest(of measurements: [[Measurement]], in workload: Workload) throws {
    let digests = Set(measurements.joined().compactMap(\.digest))
    guard digests.count <= 1 else {
      throw BenchmarkFailure("\(workload.id): the contenders disagree on the result.")
    }
  }
}
