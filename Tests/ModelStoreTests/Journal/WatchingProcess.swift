import Foundation
import Testing

@testable import ModelStore

/// A `storecli watch` beside this process. A separate thread reads its output, so it never waits
/// for a reader.
final class WatchingProcess {
  /// The process ended before it reported the expected lines.
  struct Ended: Error, CustomStringConvertible {
    /// How it ended, and what it wrote to standard error.
    let description: String
  }

  /// The command line: where `MODELSTORE_STORECLI` says, or beside the tests in the build
  /// directory, as it is built with them; nil where there is none.
  static let program: String? = {
    if let named = ProcessInfo.processInfo.environment["MODELSTORE_STORECLI"] { return named }
    var place = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    while place.path != "/" {
      place = place.deletingLastPathComponent()
      let candidate = place.appendingPathComponent("storecli").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    return nil
  }()

  private let process = Process()
  private let output = Pipe()
  private let talk = Pipe()
  /// The output in pieces; an empty piece marks the end.
  private let pieces = AwaitedEvents<Data>()
  private var unread = Data()

  init(_ program: String, _ arguments: String..., path: String) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["watch", "-d", path, "-o", "ndjson"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = talk
    try process.run()
    Thread.detachNewThread { [pieces, handle = output.fileHandleForReading] in
      var piece = Data()
      repeat {
        piece = handle.availableData
        pieces.add(piece)
      } while !piece.isEmpty
    }
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Hands lines to `take` in their order, until it returns true for one.
  func read(until take: (ToldLine) throws -> Bool) throws {
    while true {
      while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try ToldLine(Data(unread[..<end]))
        unread = unread[(end + 1)...]
        if try take(line) { return }
      }
      let piece = try pieces.next()
      if piece.isEmpty { throw try ended() }
      unread = Data(unread) + piece
    }
  }

  /// Waits for the end of a program that reports nothing more.
  private func ended() throws -> Ended {
    let said = try talk.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let way = process.terminationReason == .exit ? "with status" : "by signal"
    return Ended(
      description:
        "it ended \(way) \(process.terminationStatus): \(String(decoding: said, as: UTF8.self))")
  }

  /// Ends it by force.
  ///
  /// - Returns: What it wrote to standard error.
  func finish() throws -> String {
    kill(process.processIdentifier, SIGKILL)
    let said = try talk.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }
}

/// One line of `watch` with integers and texts.
struct ToldLine {
  struct Field: Equatable {
    /// nil where the record was not there.
    var old: SQLValue?
    /// nil where it is not there any more.
    var new: SQLValue?
  }

  /// A line that is not as it should be.
  struct Malformed: Error {
    let text: String
  }

  let position: Int64?
  let operation: String
  let model: String
  let key: [SQLValue]
  let fields: [String: Field]
  /// Where the record was and is in a result.
  let places: (old: Int?, new: Int?)
  let step: Int?

  init(_ data: Data) throws {
    let malformed = Malformed(text: String(decoding: data, as: UTF8.self))
    guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any],
      let operation = object["op"] as? String, let model = object["model"] as? String,
      let id = object["id"], let changes = object["changes"] as? [String: [String: Any]]
    else { throw malformed }
    func value(_ value: Any) throws -> SQLValue {
      if value is NSNull { return .null }
      if let text = value as? String { return .text(text) }
      guard let number = value as? Int else { throw malformed }
      return .integer(Int64(number))
    }
    self.operation = operation
    self.model = model
    key = try (id as? [Any] ?? [id]).map(value)
    fields = try changes.mapValues {
      Field(old: try $0["old"].map(value), new: try $0["new"].map(value))
    }
    position = (object["position"] as? Int).map { Int64($0) }
    step = object["step"] as? Int
    let index = object["index"] as? [String: Any]
    places = (index?["from"] as? Int, index?["to"] as? Int)
  }

  /// The values after.
  var image: [String: SQLValue] { fields.compactMapValues(\.new) }

  /// The earlier value of each field; nil for a field without a value.
  var before: [String: SQLValue] { fields.compactMapValues(\.old) }
}
