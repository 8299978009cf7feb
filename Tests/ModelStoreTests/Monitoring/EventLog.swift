@testable import ModelStore

/// Keeps what a store reports, as lines that a test compares.
struct EventLog: StoreMonitor {
  let slowStatementDuration: Duration?
  let tag: String?
  private let recorder = Recorder<String>()
  private let reports = Recorder<WriteReport>()

  init(slowStatementDuration: Duration? = nil, tag: String? = nil) {
    self.slowStatementDuration = slowStatementDuration
    self.tag = tag
  }

  /// The lines since the last call.
  func taken() -> [String] { recorder.taken() }

  /// The reports of writes so far.
  var writes: [WriteReport] { reports.events }

  func receive(_ event: StoreEvent) {
    recorder.add(Self.line(event))
    if case .writeEnded(let report) = event { reports.add(report) }
  }

  func tag(ofWrite write: UInt64) -> String? { tag }

  private static func line(_ event: StoreEvent) -> String {
    switch event {
    case .writeQueued(let number): "queued \(number)"
    case .writeBegan(let number): "began \(number)"
    case .writeEnded(let report):
      "ended \(report.number) \(name(report.outcome)) rows \(report.changedRowCount) sharing \(report.sharingCount)"
    case .readBegan(let number): "reading \(number)"
    case .readEnded(let report):
      "read \(report.number)" + (report.error == nil ? "" : " failed")
    case .checkpoint(let report): "checkpoint \(report.pageCount > 0)"
    case .foreignCommit(let report): "foreign \(report.changeCount) exact \(report.isExact)"
    case .resync: "resync"
    case .backlog(let count): "backlog \(count)"
    case .consumer(let report):
      "consumer \(report.name) \(report.acknowledged.rawValue) lag \(report.lag)"
    case .deadLetter(let consumer, let model, let position, let attemptCount):
      "dead letter \(consumer) \(model) \(position.rawValue) attempts \(attemptCount)"
    case .slowStatement(let report): "slow \(report.sql) \(report.plan)"
    case .failure(let error): "failure \(error.code.rawValue)"
    }
  }

  private static func name(_ outcome: WriteReport.Outcome) -> String {
    switch outcome {
    case .committed: "committed"
    case .refused(let error): "refused \(error.violations.map(\.rule))"
    case .rolledBack(let error): "rolled back \(type(of: error))"
    case .unknown: "unknown"
    }
  }
}
