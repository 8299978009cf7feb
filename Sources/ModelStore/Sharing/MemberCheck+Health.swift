extension MemberCheck {
  /// What the member and `shared` are to each other now.
  func health(with shared: SharedLedger?) -> MemberHealth {
    guard let shared else {
      return health(obstacle: StoreError.withoutLedger(path, record.store).message)
    }
    do {
      let ledger = try shared.open()
      let unknown = health(obstacle: "The ledger has no store \(record.store).")
      guard shared.name == record.store else { return unknown }
      var obstacle: String?
      do {
        try check(in: ledger)
      } catch let error as StoreError {
        obstacle = error.message
      }
      // Only now: the check may have found another server.
      guard let head = try ledger.standing() else { return unknown }
      return health(obstacle: obstacle, head: head, members: try ledger.members())
    } catch {
      return health(obstacle: StoreError(reporting: Membership.storeError(error)).message)
    }
  }

  private func health(
    obstacle: String?, head: LedgerStanding? = nil, members: [MemberStanding] = []
  ) -> MemberHealth {
    let lags = members.map { member in
      (
        "\(member.member.rawValue)",
        max(0, (head?.number ?? member.number).rawValue - member.number.rawValue)
      )
    }
    return MemberHealth(
      store: record.store, member: "\(record.member.rawValue)",
      commitNumber: record.number.rawValue,
      lag: head.map { max(0, $0.number.rawValue - record.number.rawValue) }, obstacle: obstacle,
      durability: head?.durability.rawValue, memberLags: Dictionary(lags, uniquingKeysWith: max))
  }
}
