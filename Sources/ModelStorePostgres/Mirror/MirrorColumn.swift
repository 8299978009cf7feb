#if Postgres
  internal import ModelStore

  /// The column of one field in a mirror.
  struct MirrorColumn: Sendable {
    /// How PostgreSQL gets the values, which it then casts to ``type``.
    enum Form: Sendable {
      case boolean, integer, real, text, bytes
    }

    /// The field's name.
    let name: String
    /// The type in PostgreSQL.
    let type: String
    let form: Form
    private let isKey: Bool
    private let check: Check
    /// A generated column beside it, which has a date as PostgreSQL's own type.
    let time: (name: String, expression: String)?

    /// The conditions of values, beside their ``form``.
    private enum Check {
      case none, decimal, json
      case uuid(isLowercase: Bool)
      case time(TimeScale)
    }

    /// The meaning of a number as a time.
    private struct TimeScale {
      /// The seconds of one unit.
      let unit: Double
      /// The time of 0, in seconds since 1970.
      let origin: Double

      init(_ form: FieldForm?) {
        switch form {
        case .unixSeconds: (unit, origin) = (1, 0)
        case .unixMilliseconds: (unit, origin) = (0.001, 0)
        case .julianDays: (unit, origin) = (86_400, -2_440_587.5 * 86_400)
        default: (unit, origin) = (1, Double(FieldForm.unixEpochDistance))
        }
      }

      func expression(_ column: String) -> String {
        "to_timestamp(\(column) * \(unit) + \(origin))"
      }

      /// From 4714-11-24 BC to the end of 294276:
      /// <https://www.postgresql.org/docs/15/datatype-datetime.html>.
      func check(_ number: Double) throws(Problem) {
        let seconds = number * unit + origin
        guard number.isInfinite || (-210_866_803_200..<9_224_318_016_000).contains(seconds) else {
          throw Problem(text: "is a date that is too far away for PostgreSQL")
        }
      }
    }

    /// - Parameter others: The names of the model's fields.
    /// - Throws: `StoreError` with code `unsupportedSchema`.
    init(_ field: FieldSchema, isKey: Bool, beside others: [String], of model: String)
      throws(StoreError)
    {
      name = field.name
      self.isKey = isKey
      var scale: TimeScale?
      switch field.type {
      case .integer: (type, form, check) = ("bigint", .integer, .none)
      case .boolean: (type, form, check) = ("boolean", .boolean, .none)
      case .real: (type, form, check) = ("double precision", .real, .none)
      case .blob: (type, form, check) = ("bytea", .bytes, .none)
      case .uuid where field.form != .anyCase:
        (type, form, check) = ("uuid", .text, .uuid(isLowercase: field.form == .lowercase))
      // Equal numbers may have several texts, which are several keys.
      case .decimal where !isKey: (type, form, check) = ("numeric", .text, .decimal)
      // PostgreSQL does not compare values of this type.
      case .json where !isKey: (type, form, check) = ("json", .text, .json)
      case .date where field.form?.isText != true:
        let isInteger = field.form == .unixMilliseconds
        let found = TimeScale(field.form)
        (type, form) = isInteger ? ("bigint", .integer) : ("double precision", .real)
        check = .time(found)
        scale = found
      case .text, .url, .uuid, .decimal, .json, .date:
        (type, form, check) = (#"text COLLATE "C""#, .text, .none)
      case .any:
        throw StoreError(
          .unsupportedSchema,
          "\(model).\(field.name) has values of any type, which a column of PostgreSQL cannot have. Leave \(model) out of the mirror.",
          model: model, field: field.name)
      }
      time = scale.map { scale in
        var name = field.name + "_time"
        while others.contains(name) { name += "_" }
        return (name, scale.expression(Self.quoted(field.name)))
      }
    }

    /// The text as an identifier of SQL.
    static func quoted(_ name: String) -> String {
      "\"\(name.replacing("\"", with: "\"\""))\""
    }

    // Values

    /// Why a value cannot be mirrored: the end of a sentence that begins with the field.
    struct Problem: Error {
      let text: String
    }

    /// Returns a value in PostgreSQL's binary form; nil for NULL.
    func encoded(_ value: SQLValue) throws(Problem) -> [UInt8]? {
      switch (form, value) {
      case (_, .null):
        guard !isKey else { throw Problem(text: "is NULL, which a key in PostgreSQL cannot be") }
        return nil
      case (.integer, .integer(let number)):
        if case .time(let scale) = check { try scale.check(Double(number)) }
        return Self.bytes(number)
      case (.boolean, .integer(0)): return [0]
      case (.boolean, .integer(1)): return [1]
      case (.real, .real(let number)):
        if case .time(let scale) = check { try scale.check(number) }
        return Self.bytes(Int64(bitPattern: number.bitPattern))
      case (.real, .integer(let integer)):
        guard let number = Double(exactly: integer) else { break }
        return try encoded(.real(number))
      case (.text, .text(let text)):
        try check(text)
        return Array(text.utf8)
      case (.bytes, .blob(let bytes)): return bytes
      default: break
      }
      throw Problem(
        text: "holds a value of the type \(value.storageClass), and its column is \(type)")
    }

    private func check(_ text: String) throws(Problem) {
      guard !text.utf8.contains(0) else {
        throw Problem(text: "contains U+0000, which texts in PostgreSQL cannot have")
      }
      switch check {
      case .decimal where !Self.isDecimal(text.utf8):
        throw Problem(text: "is not a number in plain digits")
      case .uuid(let isLowercase) where !Self.isUUID(text, isLowercase: isLowercase):
        throw Problem(
          text: "is not a UUID of 36 characters in \(isLowercase ? "lower" : "upper") case")
      case .json where !JSONSyntax.accepts(text):
        throw Problem(text: "is not valid JSON")
      default: break
      }
    }

    /// Whether it is like `-12.50`.
    private static func isDecimal(_ text: String.UTF8View) -> Bool {
      let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
      let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      return parts.count <= 2
        && parts.allSatisfy { part in
          (1...1000).contains(part.count)
            && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }

    /// PostgreSQL ignores the case, and in the store two cases are two keys.
    private static func isUUID(_ text: String, isLowercase: Bool) -> Bool {
      let letters =
        isLowercase ? UInt8(ascii: "a")...UInt8(ascii: "f") : UInt8(ascii: "A")...UInt8(ascii: "F")
      return text.utf8.count == 36
        && text.utf8.enumerated().allSatisfy { place, byte in
          [8, 13, 18, 23].contains(place)
            ? byte == UInt8(ascii: "-")
            : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || letters.contains(byte)
        }
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian, Array.init)
    }

    /// PostgreSQL writes UUIDs in lower case.
    private func text(of bytes: [UInt8]) -> String {
      let text = String(decoding: bytes, as: UTF8.self)
      if case .uuid(isLowercase: false) = check { return text.uppercased() }
      return text
    }

    /// Returns a value that PostgreSQL returned in the binary form of ``form``.
    func decoded(_ bytes: [UInt8]) -> SQLValue {
      let number = bytes.reduce(0 as Int64) { $0 << 8 | Int64($1) }
      return switch form {
      case .boolean, .integer: .integer(number)
      case .real: .real(Double(bitPattern: UInt64(bitPattern: number)))
      case .text: .text(text(of: bytes))
      case .bytes: .blob(bytes)
      }
    }
  }

  extension MirrorColumn.Form {
    /// The type's number in `pg_type`.
    var number: UInt32 {
      switch self {
      case .boolean: 16
      case .integer: 20
      case .real: 701
      case .text: 25
      case .bytes: 17
      }
    }

    /// The number of the type of its arrays.
    var arrayNumber: UInt32 {
      switch self {
      case .boolean: 1000
      case .integer: 1016
      case .real: 1022
      case .text: 1009
      case .bytes: 1001
      }
    }

    var name: String {
      switch self {
      case .boolean: "boolean"
      case .integer: "bigint"
      case .real: "double precision"
      case .text: "text"
      case .bytes: "bytea"
      }
    }
  }
#endif
