import RecordFormats

/// An input small enough to be one value.
enum WholeInput {
  /// All bytes of the file at `path`, or of standard input for `-`.
  ///
  /// - Throws: ``InputError`` naming the file when it cannot be read or is one of `storePaths`.
  static func bytes(of path: String, refusing storePaths: [String]) throws -> [UInt8] {
    do {
      var buffer = InputBuffer(source: try ByteSource(path: path, refusing: storePaths))
      while !buffer.isAtEnd { try buffer.fill(at: .start) }
      return buffer.withUnread { Array($0) }
    } catch {
      throw CommandError(error).naming(path)
    }
  }
}
