// Hearing what other processes commit.
extension StoreCore {
  /// Listens for as long as somebody observes or consumes the change journal. A forked child hears
  /// nothing.
  func followAudience() {
    guard presence.process.isCurrent else { return }
    signal.listen(
      while: { broker.hasObservers || !journalListeners.isEmpty },
      look: { [weak self] in
        try self?.look() ?? ChangeSignal.Sight(hasForeignCommit: false, ownCommitCount: 0)
      },
      report: { [report] error in report(StoreError(reporting: error)) })
  }

  /// Looks whether others have committed, and tells observers. On the signal's queue, so in one
  /// order with the commits of this store.
  private func look() throws -> ChangeSignal.Sight {
    try writer.inTurn { writer in
      let isBehind = try writer.isBehind()
      if isBehind { try self.publishWhatOthersDid(&writer) }
      return ChangeSignal.Sight(
        hasForeignCommit: isBehind, ownCommitCount: self.broker.version)
    }
  }
}
