package import ModelStore

/// An account whose balance a binding keeps equal to the sum of its deposits.
package struct Account: Model, Hashable {
  package var id: Int64
  package var balance: Int64

  package static let definition = ModelDefinition<Account>(
    "Account", key: \.id, fields: [.init("id", \.id), .init("balance", \.balance)])

  package var key: Int64 { id }

  package init(id: Int64, balance: Int64 = 0) {
    self.id = id
    self.balance = balance
  }

  package init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    balance = try row.decode(at: 1)
  }

  package func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try balance.encode(to: &arguments, at: 1)
  }
}

/// One of the two records of a transaction: number `n` inserts the deposits `n` and `-n`.
package struct Deposit: Model, Hashable {
  package var id: Int64
  package var accountID: Int64
  package var amount: Int64

  package static let definition = ModelDefinition<Deposit>(
    "Deposit", key: \.id,
    fields: [
      .init("id", \.id),
      .init("accountID", \.accountID, reference: ReferenceSchema(table: "Account")),
      .init("amount", \.amount, rules: [.range(1...)]),
    ])

  package var key: Int64 { id }

  package init(id: Int64) {
    self.id = id
    accountID = abs(id) % Ledger.accountCount
    amount = abs(id) % 7 + 1
  }

  package init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    accountID = try row.decode(at: 1)
    amount = try row.decode(at: 2)
  }

  package func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try accountID.encode(to: &arguments, at: 1)
    try amount.encode(to: &arguments, at: 2)
  }
}
