import RecordFormats

/// The inputs of a command: files, and standard input for `-`. The store's own files are never
/// opened.
struct InputFiles: Sendable {
  let surroundings: Surroundings
  /// The store's database and the files beside it. They are refused without being opened: closing
  /// a second descriptor of a database drops the locks that SQLite holds on it.
  /// https://www.sqlite.org/howtocorrupt.html section 2.2
  var refusedPaths: [String] = []

  /// The bytes at `path`.
  ///
  /// - Throws: ``InputError`` for a file of the store and for one that cannot be opened.
  func source(_ path: String) throws(InputError) -> ByteSource {
    path == "-" ? surroundings.input : try ByteSource(path: path, refusing: refusedPaths)
  }

  /// The bytes at `path`, all of them read now if reading may block, as from a pipe.
  ///
  /// - Throws: As ``source(_:)``, and where they could not be kept.
  func readAhead(_ path: String) throws(InputError) -> ByteSource {
    let source = try source(path)
    guard surroundings.mayWait(for: path) else { return source }
    return try source.spooled(in: surroundings.temporaryDirectory)
  }

  /// All bytes at `path`, which are few enough to be one value.
  ///
  /// - Throws: ``CommandError`` naming the path when it cannot be read.
  func contents(of path: String) throws -> [UInt8] {
    do {
      var buffer = InputBuffer(source: try source(path))
      while !buffer.isAtEnd { try buffer.fill(at: .start) }
      return buffer.withUnread { Array($0) }
    } catch {
      throw CommandError(error).naming(path)
    }
  }
}
