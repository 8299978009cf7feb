/// The formats in which records can be read.
package enum InputFormat: String, CaseIterable, Sendable {
  case csv, tsv, ndjson, json
}
