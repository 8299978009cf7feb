import RecordFormats

/// The inputs of a command: files, and standard input for `-`. The store's own files are never
/// opened.
struct InputFiles: Sendable {
  let surroundings: Surroundings
  /// The store's database and the files beside it. They are refused without being opened: closing
  /// a second descriptor of a database drops the locks that SQLite holds on it.
  /// https://www.sqlite.org/howtocorrupt.html section 2.2
  let refusedPaths: [String]
  /// What was read from inputs that can be read only once, by path.
  private var kept: [String: SpooledInput] = [:]

  init(surroundings: Surroundings, refusedPaths: [String] = []) {
    self.surroundings = surroundings
    self.refusedPaths = refusedPaths
  }

  /// The bytes at `path`.
  ///
  /// - Throws: ``InputError`` for a file of the store and for one that cannot be opened.
  func source(_ path: String) throws(InputError) -> ByteSource {
    if let kept = kept[path] { return try kept.source() }
    if path == "-" { return surroundings.input }
    if let kind = CompressedFile(path: path) {
      return try ByteSource(uncompressing: kind, path: path, refusing: refusedPaths)
    }
    return try ByteSource(path: path, refusing: refusedPaths)
  }

  /// Whether the bytes at `path` can be read only once, or reading them may block.
  func isStream(_ path: String) -> Bool { path == "-" || surroundings.mayWait(for: path) }

  /// The same inputs, which can be read several times: what can be read only once is read now and
  /// kept in a temporary file.
  ///
  /// - Throws: ``CommandError`` naming the path when it cannot be read.
  func keeping(_ paths: [String]) throws -> InputFiles {
    var inputs = self
    for path in paths where isStream(path) && kept[path] == nil {
      do {
        inputs.kept[path] = try SpooledInput(
          try source(path), in: surroundings.temporaryDirectory)
      } catch {
        throw CommandError(error).naming(path)
      }
    }
    return inputs
  }

  /// The bytes at `path`, all of them read now if reading may block, as from a pipe.
  ///
  /// - Throws: As ``source(_:)``, and where they could not be kept.
  func readAhead(_ path: String) throws(InputError) -> ByteSource {
    let source = try source(path)
    guard kept[path] == nil, surroundings.mayWait(for: path) else { return source }
    return try source.spooled(in: surroundings.temporaryDirectory)
  }

  /// All bytes at `path`, which are few enough to be one value.
  ///
  /// - Throws: As ``source(_:)``, and where they could not be read.
  func bytes(at path: String) throws(InputError) -> [UInt8] {
    var buffer = InputBuffer(source: try source(path))
    while !buffer.isAtEnd { try buffer.fill(at: .start) }
    return buffer.withUnread { Array($0) }
  }

  /// As ``bytes(at:)``.
  ///
  /// - Throws: ``CommandError`` naming the path when it cannot be read.
  func contents(of path: String) throws -> [UInt8] {
    do {
      return try bytes(at: path)
    } catch {
      throw CommandError(error).naming(path)
    }
  }
}
