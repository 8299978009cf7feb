/// W3, records: fetch every track of a table into an array of structs.
struct FetchTracksWorkload {
  let count: Int

  var workload: Workload {
    Workload(
      id: "W3-records",
      title: "fetch \(count.grouped) records of 4 fields into structs",
      unit: "row",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }
}

/// W3, integers: fetch every record of ten integers into an array of structs.
struct FetchItemsWorkload {
  let count: Int

  var workload: Workload {
    Workload(
      id: "W3-integers",
      title: "fetch \(count.grouped) records of 10 integers into structs",
      unit: "row",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }
}
