#if Postgres
  /// An array of one dimension in PostgreSQL's binary form. Filled with one cell after another.
  struct ArrayArgument: Sendable {
    let form: MirrorColumn.Form
    private(set) var count = 0
    private var cells: [UInt8] = []
    private var hasNull = false

    init(_ form: MirrorColumn.Form) { self.form = form }

    /// - Parameter cell: In the binary form; nil for NULL.
    mutating func append(_ cell: [UInt8]?) {
      count += 1
      Self.append(cell.map { Int32($0.count) } ?? -1, to: &cells)
      guard let cell else {
        hasNull = true
        return
      }
      cells += cell
    }

    var byteCount: Int { cells.count }

    /// How many bytes ``encode(to:)`` adds.
    var encodedByteCount: Int { cells.count + 20 }

    func encode(to bytes: inout [UInt8]) {
      // Dimensions, whether there is NULL, the elements' type, the count, and the first index.
      for number in [1, hasNull ? 1 : 0, Int32(bitPattern: form.number), Int32(count), 1] {
        Self.append(number, to: &bytes)
      }
      bytes += cells
    }

    private static func append(_ number: Int32, to bytes: inout [UInt8]) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
  }
#endif
