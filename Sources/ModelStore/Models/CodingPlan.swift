/// Maps coding keys to columns of a row. A model has one plan, made with its definition; a
/// statement has one for each run.
@usableFromInline
final class CodingPlan: Sendable {
  /// Where the columns come from, for messages.
  enum Source: Sendable {
    case model(String)
    case statement(row: String)
  }

  let source: Source
  /// In column order. Of several columns with one name, all but the first are "" here: no key finds
  /// them.
  let names: [String]
  /// The type of each column, without its optional; empty for a statement, whose columns have none.
  let types: [any ColumnValue.Type]
  private let columns: [String: Int]

  init(_ source: Source, names: [String], types: [any ColumnValue.Type] = []) {
    let columns = Dictionary(
      names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    self.source = source
    self.columns = columns
    self.names = names.enumerated().map { columns[$1] == $0 ? $1 : "" }
    self.types = types.map { ($0 as? any OptionalColumnValue.Type)?.wrappedType ?? $0 }
  }

  /// The column called `name`.
  ///
  /// - Parameter guess: The column to try first. Types decode their properties in one order, mostly
  ///   that of the columns, so the column after the last one spares nearly all look-ups.
  @inline(__always)
  func column(_ name: String, guess: Int) throws(StoreError) -> Int {
    if guess < names.count, names[guess] == name { return guess }
    guard let column = columns[name] else { throw unknown(name) }
    return column
  }

  func has(_ name: String) -> Bool { columns[name] != nil }

  /// Whether `type` is what the column is declared to hold.
  func declares(_ type: Any.Type, at column: Int) -> Bool {
    column < types.count && types[column] == type
  }

  /// Reads `row` as a record; a column value is the row's first column.
  @usableFromInline
  func decode<Record: Decodable>(
    _ type: Record.Type, from row: borrowing RowView
  ) throws -> Record {
    var decoder = RowDecoder.taken(from: row, for: self)
    defer { RowDecoder.end(&decoder, of: row) }
    do {
      if types.isEmpty, type is any ColumnValue.Type { return try decoder.firstColumn(type) }
      return try Record(from: decoder)
    } catch let error as DecodingError {
      throw columnError(error)
    }
  }

  /// Binds the fields of `record`.
  @usableFromInline
  func encode(_ record: some Encodable, to arguments: inout ArgumentWriter) throws {
    let encoder = RowEncoder(writer: arguments.shared(), plan: self)
    defer { encoder.end(&arguments) }
    do {
      try record.encode(to: encoder)
    } catch let EncodingError.invalidValue(_, context) {
      throw columnError(context.codingPath, context.debugDescription)
    }
  }

  /// What a type's own `init(from:)` has thrown, as the error of its column.
  private func columnError(_ error: DecodingError) -> ColumnError {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context), .dataCorrupted(let context):
      columnError(context.codingPath, context.debugDescription)
    @unknown default: columnError([], "\(error)")
    }
  }

  private func columnError(_ path: [any CodingKey], _ reason: String) -> ColumnError {
    ColumnError(
      column: path.first.flatMap { columns[$0.stringValue] } ?? -1,
      problem: .unrepresentable(reason))
  }

  func unknown(_ name: String) -> StoreError {
    let known = names.filter { !$0.isEmpty }.joined(separator: ", ")
    switch source {
    case .model(let model):
      return StoreError(
        .schemaMismatch,
        "\(model): the property \(name) is not a field of the definition. Add it to the fields, or leave it out of the coding keys. The fields are: \(known).",
        model: model, field: name)
    case .statement(let row):
      return StoreError(
        .invalidQuery,
        "\(row): the statement has no column \(name). Its columns are: \(known).", field: name)
    }
  }

  /// A type that no column holds.
  func unstorable(_ type: Any.Type, at column: Int) -> StoreError {
    let place =
      switch source {
      case .model(let name), .statement(let name): "\(name).\(names[column])"
      }
    return StoreError(
      .unsupportedSchema,
      "\(place): no column holds a value of type \(type). Use JSON<\(type)>, or conform the type to ColumnValue.",
      field: names[column])
  }

  /// A type that does not read and write by its properties.
  func unkeyed() -> StoreError {
    let name =
      switch source {
      case .model(let name), .statement(let name): name
      }
    return StoreError(
      .unsupportedSchema,
      "\(name): a row is read and written by the names of its columns; use one keyed container, without nesting."
    )
  }
}

/// An optional, without naming what it wraps.
private protocol OptionalColumnValue {
  static var wrappedType: any ColumnValue.Type { get }
}

extension Optional: OptionalColumnValue where Wrapped: ColumnValue {
  fileprivate static var wrappedType: any ColumnValue.Type { Wrapped.self }
}
