import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ByteSource {
  /// Reads an open descriptor that the caller keeps open.
  init(descriptor: Int32) {
    self.init { buffer throws(InputError) in
      try Self.read(from: descriptor, into: buffer)
    }
  }

  /// Reads a file, closed when the source is dropped.
  ///
  /// `storePaths` are refused without being opened; see ``InputFiles``.
  ///
  /// - Throws: ``InputError`` for a file of the store and for one that cannot be opened.
  init(path: String, refusing storePaths: [String]) throws(InputError) {
    let file = try InputFile(path: path, refusing: storePaths)
    self.init { buffer throws(InputError) in
      try Self.read(from: file.descriptor, into: buffer)
    }
  }

  /// Reads a compressed file through the program that uncompresses it.
  ///
  /// - Throws: ``InputError`` as ``init(path:refusing:)``, and where the program cannot be started.
  ///   While bytes are read, also when the program fails.
  init(
    uncompressing kind: CompressedFile, path: String, refusing storePaths: [String]
  ) throws(InputError) {
    let file = try InputFile(path: path, refusing: storePaths)
    let output: Uncompressed
    do {
      output = try Uncompressed(kind, from: file.descriptor)
    } catch {
      throw InputError(
        .refused(
          reason: "cannot run \(kind.program), which reads \(kind.rawValue) files: \(error); "
            + "uncompress the file first, or install \(kind.program)"), at: .start)
    }
    self.init { buffer throws(InputError) in
      let count = try Self.read(from: output.descriptor, into: buffer)
      if count == 0 { try output.checkEnding() }
      return count
    }
  }

  /// The same bytes, all of them read now into an unnamed file in `directory`, so that later reads
  /// do not block.
  ///
  /// - Throws: ``InputError``, also where the file finds no space.
  func spooled(in directory: String) throws(InputError) -> ByteSource {
    try SpooledInput(self, in: directory).source()
  }

  /// Waits until reading would not block. Ctrl-C may arrive between the check and the wait, and
  /// then nothing ends the wait; so the check is repeated ten times a second.
  private static func waitForInput(on descriptor: Int32) throws(InputError) {
    while true {
      if Interruption.isRequested { throw InputError(.interrupted, at: .start) }
      var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&interest, 1, 100) > 0 { return }
    }
  }

  fileprivate static func read(
    from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(InputError) -> Int {
    while true {
      try waitForInput(on: descriptor)
      #if canImport(Glibc)
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      #elseif canImport(Musl)
        let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
      #else
        let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 { return count }
      let error = SystemError.last
      switch error.number {
      case EINTR, EAGAIN: continue
      default: throw InputError(.unreadable(error), at: .start)
      }
    }
  }
}

/// An open file of the input; closes it when dropped.
private final class InputFile {
  let descriptor: Int32

  init(path: String, refusing storePaths: [String]) throws(InputError) {
    guard !FileIdentity.isSame(path, asAnyOf: storePaths) else {
      throw InputError(.storeFile, at: .start)
    }
    while true {
      let opened = open(path, O_RDONLY | O_CLOEXEC)
      guard opened < 0 else {
        descriptor = opened
        return
      }
      // Opening a pipe waits for its writer.
      let error = SystemError.last
      guard error.number == EINTR else { throw InputError(.unreadable(error), at: .start) }
      if Interruption.isRequested { throw InputError(.interrupted, at: .start) }
    }
  }

  deinit {
    close(descriptor)
  }
}

/// Bytes of an input in a file without a name, which can be read again.
final class SpooledInput: Sendable {
  private let file: TemporaryFile

  /// Reads all bytes of `source` now.
  init(_ source: ByteSource, in directory: String) throws(InputError) {
    file = try TemporaryFile(in: directory)
    let sink = ByteSink(descriptor: file.descriptor)
    while true {
      let chunk = try source.bytes(atMost: InputBuffer.chunkByteCount)
      do throws(OutputError) {
        guard !chunk.isEmpty else {
          try sink.flush()
          break
        }
        try sink.append { output throws(OutputError) in output += chunk }
      } catch {
        guard case .unwritable(let system) = error else {
          preconditionFailure("Copying bytes to a file failed with \(error).")
        }
        throw InputError(.unkept(in: directory, system), at: .start)
      }
    }
  }

  /// The bytes from the beginning; the source that was taken before ends.
  func source() throws(InputError) -> ByteSource {
    guard lseek(file.descriptor, 0, SEEK_SET) == 0 else {
      throw InputError(.unreadable(.last), at: .start)
    }
    return ByteSource { buffer throws(InputError) in
      try ByteSource.read(from: self.file.descriptor, into: buffer)
    }
  }
}

/// What a program that uncompresses writes; ends the program when dropped.
private final class Uncompressed {
  let descriptor: Int32
  private let kind: CompressedFile
  private let process: ChildProcess
  private var hasEnded = false

  init(_ kind: CompressedFile, from input: Int32) throws(SystemError) {
    self.kind = kind
    let pipe = try SystemPipe()
    defer { close(pipe.writeEnd) }
    do {
      process = try ChildProcess(
        [kind.program, "-d", "-c"], reading: input, writing: pipe.writeEnd)
    } catch {
      close(pipe.readEnd)
      throw error
    }
    descriptor = pipe.readEnd
  }

  /// - Throws: ``InputError`` unless all bytes were there.
  func checkEnding() throws(InputError) {
    guard !hasEnded else { return }
    hasEnded = true
    let ending: ChildProcess.Ending
    do {
      ending = try process.end()
    } catch {
      throw InputError(.unreadable(error), at: .start)
    }
    guard ending.isSuccess else {
      throw InputError(
        .malformed(detail: "\(kind.program) \(ending), so the file is damaged or incomplete"),
        at: .start)
    }
  }

  deinit {
    close(descriptor)
    guard !hasEnded else { return }
    do {
      // It ends, because nothing reads what it writes.
      _ = try process.end()
    } catch {
      // There is nothing left to wait for.
    }
  }
}

extension InputError.Problem {
  /// The input is one of the store's own files, which only the store may open.
  static let storeFile = refused(
    reason: "the input is a file of the store itself; use export instead")
}
