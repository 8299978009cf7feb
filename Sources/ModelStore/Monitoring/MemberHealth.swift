/// The part of a store's file in a shared store. See ``StoreHealth/member``.
public struct MemberHealth: Hashable, Sendable, Codable {
  /// The name of the shared store.
  public let store: String
  /// The key of this file in ``memberLags``.
  public let member: String
  /// The number of the newest commit that the file has. It is 0 in the state in which the store was
  /// founded.
  public let commitNumber: Int64
  /// How many commits the ledger has after ``commitNumber``. nil if the ledger did not answer, or
  /// if the program has set none.
  public let lag: Int64?
  /// Why this member cannot write now: the program has set no ledger, the ledger cannot be reached,
  /// or the file does not fit it. nil if it can.
  public let obstacle: String?
  /// What a commit survives: `replicated` survives the loss of the ledger's machine, `local` its
  /// crash, `none` neither. nil if the ledger did not answer.
  public let durability: String?
  /// For each member that the ledger has noted within 30 days, the number of commits after the one
  /// that the member had then. The keys identify members: each file has a key of its own.
  public let memberLags: [String: Int64]
}
