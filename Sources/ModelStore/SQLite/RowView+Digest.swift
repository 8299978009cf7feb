extension RowView {
  /// Adds the value at `column` to a digest, exactly as stored: a byte for its storage class, then
  /// its content. Content without a fixed length follows its length. Text need not be UTF-8.
  ///
  /// Decision record 27 defines these bytes. They never change.
  func add(at column: Int, to digest: inout SHA256) throws(ColumnError) {
    switch storageClass(at: column) {
    case .null: digest.update(0 as UInt8)
    case .integer:
      digest.update(1 as UInt8)
      digest.update(UInt64(bitPattern: try integer(at: column)))
    case .real:
      digest.update(2 as UInt8)
      digest.update(try real(at: column).bitPattern)
    case .text:
      digest.update(3 as UInt8)
      digest.updateCounting(textBytes(at: column) ?? [])
    case .blob:
      digest.update(4 as UInt8)
      digest.updateCounting(try blob(at: column))
    }
  }
}

extension SHA256 {
  /// Adds the number of bytes, then the bytes.
  mutating func updateCounting(_ bytes: [UInt8]) {
    update(UInt64(bytes.count))
    update(bytes)
  }
}
