extension Workload {
  /// Every workload in the order of the report, its row counts multiplied by `scale`.
  static func all(scale: Double) -> [Workload] {
    func scaled(_ count: Int) -> Int { max(10, Int(Double(count) * scale)) }
    return [
      LiveQueryWorkload(name: "1k", resultCount: scaled(1_000)).workload,
      LiveQueryWorkload(name: "10k", resultCount: scaled(10_000)).workload,
      LiveQueryWorkload(name: "100k", resultCount: scaled(100_000)).workload,
      LiveQueryWorkload(name: "1m", resultCount: scaled(1_000_000)).workload,
      LiveQueryEngineWorkload(name: "1k", resultCount: scaled(1_000)).workload,
      LiveQueryEngineWorkload(name: "1m", resultCount: scaled(1_000_000)).workload,
      InsertWorkload(count: scaled(500_000)).workload,
      FetchTracksWorkload(count: scaled(300_000)).workload,
      FetchItemsWorkload(count: scaled(200_000)).workload,
      LookupWorkload(bracket: .single, count: scaled(100_000)).workload,
      LookupWorkload(bracket: .transaction, count: scaled(100_000)).workload,
      CommitWorkload(synchronous: .normal, count: scaled(10_000)).workload,
      CommitWorkload(synchronous: .full, count: scaled(10_000)).workload,
      SharedCommitWorkload(
        synchronous: .full, taskCount: 64, commitCount: scaled(32)
      ).workload,
      SharedCommitWorkload(
        synchronous: .normal, taskCount: 64, commitCount: scaled(64)
      ).workload,
      SharedCommitWorkload(
        synchronous: .full, taskCount: 1, commitCount: scaled(1_000)
      ).workload,
      SharedCommitWorkload(
        synchronous: .normal, taskCount: 1, commitCount: scaled(4_000)
      ).workload,
      RoutedQueriesWorkload(target: .one, queryCount: scaled(10_000)).workload,
      RoutedQueriesWorkload(target: .none, queryCount: scaled(10_000)).workload,
      FieldObserversWorkload(batch: .one, observerCount: scaled(100_000)).workload,
      FieldObserversWorkload(batch: .many, observerCount: scaled(100_000)).workload,
      SubscriptionsWorkload(kind: .queries, objectCount: scaled(10_000)).workload,
      SubscriptionsWorkload(kind: .objects, objectCount: scaled(10_000)).workload,
      SubscriptionsWorkload(kind: .ranges, objectCount: scaled(10_000)).workload,
      LongListWorkload(slotCount: scaled(1_000_000)).workload,
      OpeningWorkload(order: .integers, rowCount: scaled(1_000_000)).workload,
      OpeningWorkload(order: .texts, rowCount: scaled(1_000_000)).workload,
      WindowWorkload(rowCount: scaled(1_000_000)).workload,
      ForeignCommitWorkload(commitCount: scaled(2_000)).workload,
      ImportWorkload(format: .csv, count: scaled(200_000)).workload,
      ImportWorkload(format: .ndjson, count: scaled(200_000)).workload,
      CommandWorkload(command: .get, modelCount: 1, count: scaled(10_000)).workload,
      CommandWorkload(command: .get, modelCount: 29, count: scaled(10_000)).workload,
      CommandWorkload(command: .update, modelCount: 1, count: scaled(10_000)).workload,
      CommandWorkload(command: .update, modelCount: 29, count: scaled(10_000)).workload,
      CommandWorkload(command: .completion, modelCount: 1, count: scaled(1_000_000)).workload,
      ReaderScalingWorkload(
        threadCount: 1, count: scaled(100_000), readCount: scaled(100_000)
      ).workload,
      ReaderScalingWorkload(
        threadCount: 2, count: scaled(100_000), readCount: scaled(100_000)
      ).workload,
      ReaderScalingWorkload(
        threadCount: 16, count: scaled(100_000), readCount: scaled(100_000)
      ).workload,
      StoreOpeningWorkload(modelCount: 200, bindingCount: 100, openingCount: scaled(100)).workload,
      DifferenceWorkload(rowCount: scaled(1_000_000), changeCount: scaled(1_000)).workload,
      RebuildWorkload(rowCount: scaled(1_000_000)).workload,
      PlanWorkload(modelCount: 200, planCount: scaled(100)).workload,
      MonitoredCommitWorkload(
        commits: CommitWorkload(synchronous: .normal, count: scaled(10_000))
      ).workload,
      MonitoredCommitWorkload(
        commits: CommitWorkload(synchronous: .full, count: scaled(10_000))
      ).workload,
      RuleWorkload(count: scaled(100_000)).workload,
      BindingWorkload(writer: .modelStore, count: scaled(100_000)).workload,
      BindingWorkload(writer: .sqlite, count: scaled(100_000)).workload,
    ] + shared(scaled)
  }

  /// The workloads of shared stores.
  private static func shared(_ scaled: (Int) -> Int) -> [Workload] {
    #if Postgres
      [
        SharedWriteWorkload(count: scaled(10_000)).workload,
        SharedScalingWorkload(
          writers: .members, counts: [1, 3, 8], writeCount: scaled(2_400)
        ).workload,
        SharedScalingWorkload(writers: .tasks, counts: [1, 8], writeCount: scaled(2_400)).workload,
      ]
        + SharedFollowingWorkload(
          writeCount: scaled(1_000), missedCount: scaled(100_000)
        ).workloads
    #else
      []
    #endif
  }
}

extension Int {
  /// With thousands separators: 500,000.
  var grouped: String {
    var text = String(self)
    var end = text.count - 3
    while end > 0 {
      text.insert(",", at: text.index(text.startIndex, offsetBy: end))
      end -= 3
    }
    return text
  }
}
