internal import Synchronization

/// One entry of the catalog as stored in the file.
package struct FiledText: Hashable, Sendable {
  package let name: String
  package let format: Int64
  package let definition: String
  /// False for the entry of a model without ordered lists.
  package let mayOwnLists: Bool

  package init(name: String, format: Int64, definition: String, mayOwnLists: Bool) {
    self.name = name
    self.format = format
    self.definition = definition
    self.mayOwnLists = mayOwnLists
  }
}

/// Catalog entries that this library is known to understand. They are decoded on first use.
package final class FiledEntries<Entry: CatalogEntry>: Sendable {
  private let texts: [FiledText]
  private let decoded: Mutex<[Entry]?>

  package init(_ entries: [Entry]) {
    texts = []
    decoded = Mutex(entries)
  }

  package init(_ texts: [FiledText]) {
    self.texts = texts
    decoded = Mutex(texts.isEmpty ? [] : nil)
  }

  /// In the order of their names.
  package var all: [Entry] {
    decoded.withLock { decoded in
      if let decoded { return decoded }
      let made = texts.compactMap { Self.entry($0) }
      decoded = made
      return made
    }
  }

  /// - Returns: nil for a text that cannot be decoded after all, such as in a forged file.
  package static func entry(_ text: FiledText) -> Entry? {
    do throws(CatalogText.Problem) {
      return try CatalogText.known(from: text.definition)
    } catch {
      return nil
    }
  }
}

extension FiledText: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(format)
    hash.add(definition)
  }
}
