/// Update records in one transaction, one field of each, BEGIN and COMMIT included: without
/// bindings, and under bindings of each kind, once so that the bound value stays what it is and
/// once so that it changes. The C API does the same to files that have the same triggers.
struct BindingWorkload {
  /// Who updates.
  enum Writer: String {
    case modelStore = "bindings"
    case sqlite = "bindings-sqlite"
  }

  let writer: Writer
  /// The records in the table, each of which a run updates.
  let count: Int

  var workload: Workload {
    Workload(
      id: writer.rawValue,
      title: "update \(count.grouped) records in one transaction under bindings (NORMAL)",
      unit: "record",
      contenders: {
        switch writer {
        case .modelStore: modelStoreContenders
        case .sqlite: sqliteContenders
        }
      })
  }
}
