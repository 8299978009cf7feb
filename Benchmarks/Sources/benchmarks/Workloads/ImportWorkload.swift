/// W14: the command line reads a file of records with eight fields into an empty table, from the
/// start of the program to its end.
struct ImportWorkload {
  let format: SongFormat
  /// The records in the file.
  let count: Int

  var workload: Workload {
    Workload(
      id: "W14-\(format.rawValue)",
      title:
        "import \(count.grouped) records of 8 fields from \(format.rawValue.uppercased()) (FULL)",
      unit: "row", contenders: { contenders }, peers: .programs)
  }
}
