import Dispatch
import RecordFormats
import Synchronization
import Testing

@testable import StoreCommand

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite(.tags(.process)) struct ConsoleTests {
  private func console(
    loudness: Console.Loudness, isInteractive: Bool = false
  ) -> (console: Console, data: Collected, talk: Collected) {
    let data = Collected()
    let talk = Collected()
    let terminal = Terminal(
      isInteractive: isInteractive, width: nil, palette: Palette(isColoured: false))
    let console = Console(
      data: data.sink, dataTerminal: terminal, talk: talk.sink, talkTerminal: terminal,
      loudness: loudness)
    return (console, data, talk)
  }

  @Test(arguments: [
    (Console.Loudness.quiet, "error\n"), (.usual, "hint\nerror\n"),
    (.verbose, "hint\nsql\nerror\n"),
  ])
  func theVerbosityDecidesWhichMessagesArePrinted(loudness: Console.Loudness, expected: String)
    throws
  {
    let (console, data, talk) = console(loudness: loudness)
    try console.writeLine("row")
    try console.say("hint")
    try console.say("sql", at: .verbose)
    try console.report("error")
    #expect([data.text, talk.text] == ["row\n", expected])
  }

  @Test func messagesWaitForEarlierDataOnATerminalOnly() throws {
    var shown: [String] = []
    for isInteractive in [true, false] {
      let (console, data, _) = console(loudness: .usual, isInteractive: isInteractive)
      try console.writeLine("row")
      try console.say("talk")
      shown.append(data.text)
      try console.finish()
      shown.append(data.text)
    }
    #expect(shown == ["row\n", "row\n", "", "row\n"])
  }

  @Test func shortWritesLoseNothing() throws {
    let seed: UInt64 = 21
    var generator = SeededGenerator(seed: seed)
    let bytes = generator.bytes(countMax: 5_000)
    let collected = Collected(maxByteCount: 7)
    try collected.sink.append { output in output.append(contentsOf: bytes) }
    #expect(collected.bytes == [])
    try collected.sink.flush()
    #expect(collected.bytes == bytes, "seed \(seed)")
    #expect(collected.drainCount == (bytes.count + 6) / 7)
  }

  @Test func aFullBufferIsFlushedAutomatically() throws {
    let collected = Collected()
    let line = String(repeating: "x", count: 1023) + "\n"
    for _ in 0..<63 { try collected.sink.append(line) }
    #expect(collected.drainCount == 0)
    try collected.sink.append(line)
    #expect(collected.bytes.count == 64 * 1024)
  }

  @Test func aClosedReaderIsAnErrorOfTheWrite() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let sink = ByteSink(descriptor: ends[1])
    try sink.append("lost")
    #expect(throws: OutputError.readerClosed) { try sink.flush() }
    try sink.flush()
  }

  @Test func aNonBlockingDescriptorIsWaitedFor() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (readEnd, writeEnd) = (ends[0], ends[1])
    let flags = fcntl(writeEnd, F_GETFL)
    try #require(fcntl(writeEnd, F_SETFL, flags | O_NONBLOCK) == 0)
    // More than a pipe holds, so that the writer must wait for the reader.
    let sent = [UInt8](repeating: 7, count: 300_000)
    // On a thread of its own: a task would wait for the thread that waits for it here.
    let reader = DispatchQueue(label: "reader")
    let received = Mutex(0)
    reader.async {
      let count = Self.readAll(from: readEnd)
      received.withLock { $0 = count }
    }
    let sink = ByteSink(descriptor: writeEnd)
    try sink.append { output in output.append(contentsOf: sent) }
    try sink.flush()
    close(writeEnd)
    let arrived = reader.sync { received.withLock { $0 } }
    close(readEnd)
    #expect(arrived == sent.count)
  }

  private static func readAll(from descriptor: Int32) -> Int {
    var buffer = [UInt8](repeating: 0, count: 10_000)
    var total = 0
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { return total }
      total += count
    }
  }

  @Test(.ownThreads) func aClosedPipeEndsTheProcessByItsSignal() async {
    await #expect(processExitsWith: .signal(SIGPIPE)) {
      signal(SIGPIPE, SIG_IGN)
      Console.endByBrokenPipe()
    }
  }

  @Test func anErrorIsPrintedAfterDataThatCannotBeWritten() throws {
    let talk = Collected()
    let terminal = Terminal(
      isInteractive: false, width: nil, palette: Palette(isColoured: false))
    let full = OutputError.unwritable(SystemError(number: ENOSPC))
    let console = Console(
      data: ByteSink { bytes throws(OutputError) in throw full }, dataTerminal: terminal,
      talk: talk.sink, talkTerminal: terminal)
    try console.writeLine("row")
    #expect(throws: full) { try console.report("error") }
    #expect(talk.text == "error\n")
  }
}
