/// Updates one field of each record in one transaction, BEGIN and COMMIT included: without
/// bindings, and under bindings of each kind. Each kind runs once so that the bound value stays the
/// same, and once so that it changes. The C API does the same to files with the same triggers.
struct BindingWorkload {
  /// The library that updates.
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
