#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Catalog entries as JSON with sorted keys, so that equal entries have equal texts.
package enum CatalogText {
  /// The version of the JSON. It increases when an older library would misread a newer text.
  package static let format: Int64 = 1

  /// The reason why a text is not an entry of this version of the library.
  package struct Problem: Error, Hashable {
    package let reason: String
    /// Whether the text is not JSON at all; no library writes such a text.
    package var isDamage = false
  }

  package static func text(of entry: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(entry), as: UTF8.self)
  }

  /// Reads an entry whose keys are all known.
  package static func known<Entry: Decodable>(
    _ type: Entry.Type = Entry.self, from text: String
  ) throws(Problem) -> Entry {
    do {
      return try JSONDecoder().decode(Entry.self, from: Data(text.utf8))
    } catch {
      throw Problem(reason: "it cannot be read: \(error)")
    }
  }

  /// Reads an entry, and rejects one with keys that would be lost by writing it again.
  package static func entry<Entry: Codable>(
    _ type: Entry.Type = Entry.self, from text: String
  ) throws(Problem) -> Entry {
    do {
      let decoder = JSONDecoder()
      let entry = try decoder.decode(Entry.self, from: Data(text.utf8))
      let rewritten = try self.text(of: entry)
      // Usually this library wrote the text, and comparing texts is much faster than decoding both.
      guard !rewritten.isExactly(text) else { return entry }
      let stored = try decoder.decode(JSONShape.self, from: Data(text.utf8))
      let known = try decoder.decode(JSONShape.self, from: Data(rewritten.utf8))
      if let key = stored.firstKey(missingIn: known) {
        throw Problem(reason: "unknown key \(key)")
      }
      return entry
    } catch let problem as Problem {
      throw problem
    } catch let error as DecodingError {
      throw Problem(reason: error.place, isDamage: error.isSyntaxError)
    } catch {
      throw Problem(reason: "it cannot be read: \(error)")
    }
  }
}

extension DecodingError {
  /// Whether the text as a whole is not JSON.
  fileprivate var isSyntaxError: Bool {
    if case .dataCorrupted(let context) = self { context.codingPath.isEmpty } else { false }
  }

  /// The place of the error in the text, without any value.
  fileprivate var place: String {
    let (context, key): (Context, (any CodingKey)?) =
      switch self {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        (context, nil)
      case .keyNotFound(let key, let context): (context, key)
      @unknown default: (Context(codingPath: [], debugDescription: ""), nil)
      }
    let path = (context.codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
    return path.isEmpty ? "it is not JSON" : "unknown value at \(path.joined(separator: "."))"
  }
}

/// The keys of a JSON text, without its values.
private indirect enum JSONShape: Decodable {
  case value
  case array([JSONShape])
  case object([String: JSONShape])

  init(from decoder: any Decoder) throws {
    do {
      self = .object(try decoder.singleValueContainer().decode([String: JSONShape].self))
      return
    } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
      // Not an object: an array or a single value.
    }
    do {
      self = .array(try decoder.singleValueContainer().decode([JSONShape].self))
    } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
      self = .value
    }
  }

  /// Returns the first key, in the order of names, that `other` lacks at the same place; joined by
  /// dots.
  func firstKey(missingIn other: JSONShape) -> String? {
    switch (self, other) {
    case (.object(let mine), .object(let theirs)):
      for (key, shape) in mine.sorted(by: { $0.key < $1.key }) {
        guard let their = theirs[key] else { return key }
        if let inner = shape.firstKey(missingIn: their) { return "\(key).\(inner)" }
      }
      return nil
    case (.array(let mine), .array(let theirs)):
      return zip(mine, theirs).lazy.compactMap { $0.firstKey(missingIn: $1) }.first
    default:
      return nil
    }
  }
}
