/// The names of compressed files, and the programs that read them.
enum CompressedFile: String, CaseIterable {
  case gzip = ".gz"
  case zstd = ".zst"

  /// The kind of the file at `path` by its name; nil for any other file.
  init?(path: String) {
    let name = path.lowercased()
    guard let kind = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else { return nil }
    self = kind
  }

  /// The name of the file when it is not compressed.
  static func uncompressedName(of path: String) -> String {
    CompressedFile(path: path).map { String(path.dropLast($0.rawValue.count)) } ?? path
  }

  /// The program that compresses and uncompresses, found by PATH.
  var program: String {
    switch self {
    case .gzip: "gzip"
    case .zstd: "zstd"
    }
  }
}
