import Foundation

/// The project's own files, or a few planted ones.
struct Project {
  /// A broken rule of the house.
  struct Finding: Hashable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
  }

  /// Texts by path from the project's root, with `/`.
  let texts: [String: String]
  /// Every path that exists, folders included.
  let paths: Set<String>
  let swift: [SourceText]

  init(texts: [String: String], otherPaths: Set<String> = []) {
    self.texts = texts
    var paths = otherPaths.union(texts.keys)
    for path in texts.keys {
      var parts = path.split(separator: "/").dropLast()
      while !parts.isEmpty {
        paths.insert(parts.joined(separator: "/"))
        parts.removeLast()
      }
    }
    self.paths = paths
    swift = texts.filter { $0.key.hasSuffix(".swift") }
      .map { SourceText(path: $0.key, text: $0.value) }
      .sorted { $0.path < $1.path }
  }

  /// The checkout that this test was built from.
  static let checkout = Result { try Project(root: root) }

  private static var root: URL {
    var url = URL(filePath: #filePath).resolvingSymlinksInPath()
    for _ in 1...4 { url.deleteLastPathComponent() }
    return url
  }

  private init(root: URL) throws {
    let kept: Set = ["swift", "md", "sh", "sql", "json", "yml", "h", "c", "modulemap", ""]
    var texts: [String: String] = [:]
    var others: Set<String> = []
    let prefix = root.path(percentEncoded: false)
    guard
      let files = FileManager.default.enumerator(
        at: root, includingPropertiesForKeys: [.isRegularFileKey])
    else { throw CocoaError(.fileReadUnknown) }
    for case let file as URL in files {
      let path = String(file.path(percentEncoded: false).dropFirst(prefix.count))
        .split(separator: "/").joined(separator: "/")
      if file.lastPathComponent.hasPrefix(".build") || file.lastPathComponent == ".git" {
        files.skipDescendants()
        continue
      }
      others.insert(path)
      guard kept.contains(file.pathExtension),
        try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
      else { continue }
      let bytes = try Data(contentsOf: file)
      texts[path] = String(decoding: bytes, as: UTF8.self)
    }
    self.init(texts: texts, otherPaths: others)
  }

  func swift(under folder: String) -> [SourceText] {
    swift.filter { $0.path.hasPrefix(folder + "/") }
  }

  /// The files of the library: the module that programs import, and what it re-exports.
  var library: [SourceText] {
    swift(under: "Sources/SchemaCompiler") + swift(under: "Sources/ModelStore")
  }

  var markdown: [(path: String, lines: [String])] {
    texts.filter { $0.key.hasSuffix(".md") }.sorted { $0.key < $1.key }.map { path, text in
      (path, text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }
  }
}
