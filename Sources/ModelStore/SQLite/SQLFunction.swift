internal import CSQLite

/// A pure function in Swift that SQL can call. Pass it in ``StoreConfiguration/functions``. Only
/// the connections of these stores have it.
///
/// A binding may call it if you declare it with ``FieldBinding/calling(_:)``. Programs without the
/// function can still read the records. But their writes that would run the binding fail.
///
/// For example:
/// ```swift
/// let slug = SQLFunction("slug") { values in
///   guard case .text(let title) = values[0] else { return .null }
///   return .text(title.lowercased().split(separator: " ").joined(separator: "-"))
/// }
/// ```
public struct SQLFunction: Sendable {
  /// The name in SQL, not case-sensitive.
  package let name: String
  package let argumentCount: Int
  private let body: @Sendable ([SQLValue]) throws -> SQLValue

  /// - Parameters:
  ///   - name: ASCII letters, digits and underscores, not beginning with a digit, and not a
  ///     built-in function of SQLite. Otherwise, opening a store throws ``StoreError/Code/misuse``.
  ///   - argumentCount: From 0 to 127.
  ///   - body: Must always return the same value for the same arguments, in every version of the
  ///     program. SQLite calls it whenever it needs the value, on any thread, and compares stored
  ///     values with it. It must not use the store. If it throws, the statement fails. NaN becomes
  ///     NULL.
  public init(
    _ name: String, argumentCount: Int = 1,
    _ body: @escaping @Sendable ([SQLValue]) throws -> SQLValue
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.body = body
  }

  /// Why SQL cannot call the function by this name, or with this number of arguments.
  var problem: String? {
    let isWord = name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    guard isWord, let first = name.utf8.first, first > UInt8(ascii: "9") else {
      return "The function \(name) needs a name of ASCII letters, digits and underscores."
    }
    guard 0...127 ~= argumentCount else {
      return "The function \(name) takes \(argumentCount) arguments; SQLite allows from 0 to 127."
    }
    return nil
  }
}

extension SQLFunction {
  /// Called by triggers of a member's file before each change. Only members of the shared store
  /// have it, so any other program fails before it changes anything.
  static let memberOnly = SQLFunction("_ms_member_only", argumentCount: 0) { _ in .null }
}

/// Equal by name and number of arguments. In a file, the name identifies what a function does.
extension SQLFunction: Hashable {
  public static func == (left: SQLFunction, right: SQLFunction) -> Bool {
    left.name.asciiFolded.isExactly(right.name.asciiFolded)
      && left.argumentCount == right.argumentCount
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ExactText(name.asciiFolded))
    hasher.combine(argumentCount)
  }
}

extension SQLFunction {
  /// The object that SQLite retains for the function.
  private final class Registration: Sendable {
    let function: SQLFunction

    init(_ function: SQLFunction) {
      self.function = function
    }
  }

  /// Registers the function with `database`.
  ///
  /// It is registered as innocuous. Otherwise triggers could not call it, because the schema is not
  /// trusted: <https://sqlite.org/c3ref/c_deterministic.html>.
  func register(on database: OpaquePointer) throws(SQLiteError) {
    let code = sqlite3_create_function_v2(
      database, name, Int32(argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(Registration(self)).toOpaque(),
      { context, count, arguments in
        guard let context, let data = sqlite3_user_data(context) else { return }
        let registration = Unmanaged<Registration>.fromOpaque(data).takeUnretainedValue()
        registration.function.call(context, Int(count), arguments)
      }, nil, nil, { data in data.map { Unmanaged<Registration>.fromOpaque($0).release() } })
    guard code == SQLITE_OK else { throw SQLiteError(code: code, database: database) }
  }

  private func call(
    _ context: OpaquePointer, _ count: Int,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    let limit = CachedFileReads.lift()
    defer { limit.restore() }
    do {
      var values: [SQLValue] = []
      for index in 0..<count { values.append(try SQLValue(of: arguments?[index], at: index)) }
      try body(values).giveResult(to: context)
    } catch {
      let message = "The function \(name) failed: \(error)"
      sqlite3_result_error(context, message, -1)
    }
  }
}

extension SQLValue {
  /// The value at `value`, which is valid during the call only.
  init(of value: OpaquePointer?, at index: Int) throws(ColumnError) {
    guard let value else {
      throw ColumnError(column: index, problem: .unrepresentable("SQLite gave no value"))
    }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      guard let text = sqlite3_value_text(value) else {
        throw ColumnError(column: index, problem: .outOfMemory)
      }
      let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
      guard let string = String(exactUTF8: bytes) else {
        throw ColumnError(column: index, problem: .invalidUTF8)
      }
      self = .text(string)
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      guard bytes != nil || count == 0 else {
        throw ColumnError(column: index, problem: .outOfMemory)
      }
      self = .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    default: self = .null
    }
  }

  /// Returns the value to SQLite as the result of a function.
  fileprivate func giveResult(to context: OpaquePointer) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .text(var value):
      value.withUTF8 { bytes in
        guard let base = bytes.baseAddress else {
          return sqlite3_result_text(context, "", 0, csqlite_transient())
        }
        base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { characters in
          sqlite3_result_text64(
            context, characters, UInt64(bytes.count), csqlite_transient(), UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let value):
      value.withUnsafeBytes { bytes in
        // A NULL pointer would be NULL instead of an empty blob.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
          return sqlite3_result_zeroblob(context, 0)
        }
        sqlite3_result_blob64(context, base, UInt64(bytes.count), csqlite_transient())
      }
    }
  }
}
