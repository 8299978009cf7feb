import ModelStore
import RecordFormats

/// The store that a session keeps open, so that a command costs no opening.
///
/// It is opened for reading, and for writing when the first command writes.
final class KeptStore {
  private let context: CommandContext
  private var opened: OpenedStore?
  private var isWritable = false
  private var identity: FileIdentity?
  /// The file that was opened last.
  private var path: String?
  /// The open transaction, if any.
  var transaction: OpenTransaction?
  /// Called when a store is opened, and with nil before it is closed.
  var onChange: (Store?) -> Void = { _ in }

  /// - Parameter context: How the session opens its store.
  init(_ context: CommandContext) { self.context = context }

  /// Returns the store, opened now if need be.
  ///
  /// - Parameter writes: Whether it is to be written to.
  /// - Throws: As ``CommandContext/openForReading(onReplacement:)``.
  func store(writing writes: Bool) throws -> OpenedStore {
    if transaction == nil { closeIfReplaced() }
    if let opened, isWritable || !writes { return lent(opened) }
    close()
    let new =
      try writes
      ? context.openToFollow(onReplacement: context.surroundings.warn) : context.openForReading()
    identity = FileIdentity(of: new.location.path)
    (opened, isWritable) = (new, writes)
    path = new.location.path
    onChange(new.store)
    return lent(new)
  }

  /// The name of the file, without its extension.
  var name: String {
    let file = path ?? context.options.database ?? Program.name
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let end = last.lastIndex(of: ".") ?? last.endIndex
    return CellText.visible(end == last.startIndex ? last : String(last[..<end]))
  }

  /// Whether a store is open to which commands write.
  var isOpenForWriting: Bool { opened != nil && isWritable }

  /// Closes the store; the next command opens it again.
  func close() {
    guard let opened else { return }
    onChange(nil)
    opened.store.close()
    self.opened = nil
    isWritable = false
  }

  /// Closes the store, whose schema is that of an earlier file. A transaction keeps it open.
  func closeOutdated() {
    if transaction == nil { close() }
  }

  /// Another file may have taken the place of this one, as after a restore.
  private func closeIfReplaced() {
    guard let opened, FileIdentity(of: opened.location.path) != identity else { return }
    close()
  }

  private func lent(_ opened: OpenedStore) -> OpenedStore {
    var lent = opened
    lent.isKept = true
    lent.transaction = transaction?.held
    return lent
  }
}

/// A transaction that a person has begun.
struct OpenTransaction {
  let held: HeldTransaction
  let start: ContinuousClock.Instant
  /// When the last statement ended.
  var lastUse: ContinuousClock.Instant
  var statementCount = 0
}
