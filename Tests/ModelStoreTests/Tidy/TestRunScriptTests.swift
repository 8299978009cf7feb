import Foundation
import Testing

/// `Scripts/run-tests` returns the status of the tests through its pipe and ends a failed run with
/// the names of the tests that failed. A stand-in for `swift` prints what a test run would print.
@Suite(.tags(.process)) struct TestRunScriptTests {
  struct Run: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var needsTimeout = false
    let output: String
    var status: Int32 = 1
    let wantedStatus: Int32
    /// What follows the output of the tests.
    let report: [String]
  }

  @Test(arguments: runs.filter { hasTimeout || !$0.needsTimeout })
  func endsWithTheFailedTests(run: Run) throws {
    let directory = try TemporaryDirectory()
    let stub = "#!/bin/sh\ncat <<'TEXT'\n\(run.output)\nTEXT\nexit \(run.status)\n"
    try FileManager.default.createDirectory(
      atPath: directory.file(".build"), withIntermediateDirectories: true)
    try Data(stub.utf8).write(to: URL(fileURLWithPath: directory.file("swift")))
    #expect(chmod(directory.file("swift"), 0o755) == 0)

    let ended = try ScriptRun(
      of: "run-tests", ["sample"], in: directory, environment: ["MINUTES": "40"])
    let wanted = run.output.split(separator: "\n").map(String.init) + run.report
    #expect(ended.lines == wanted)
    #expect(ended.status == run.wantedStatus)
  }

  /// SwiftPM's message when two programs begin to test a build at once.
  @Test func aProgramThatCouldNotBeginBeginsAgain() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file(".build"), withIntermediateDirectories: true)
    let stub = """
      #!/bin/sh
      if [ -f began ]; then
        echo "✔ Test run with 1 test in 0 suites passed after 0.1 seconds."
      else
        touch began
        echo "error: unable to attach DB: error: database is locked"
        exit 1
      fi
      """
    try Data(stub.utf8).write(to: URL(fileURLWithPath: directory.file("swift")))
    #expect(chmod(directory.file("swift"), 0o755) == 0)
    let ended = try ScriptRun(of: "run-tests", ["sample"], in: directory)
    #expect(ended.status == 0)
    #expect(
      ended.lines == [
        "error: unable to attach DB: error: database is locked",
        "✔ Test run with 1 test in 0 suites passed after 0.1 seconds.",
      ])
  }

  @Test(.enabled("needs timeout") { hasTimeout }) func endsTestsThatHang() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file(".build"), withIntermediateDirectories: true)
    try Data("#!/bin/sh\nexec tail -f /dev/null\n".utf8)
      .write(to: URL(fileURLWithPath: directory.file("swift")))
    #expect(chmod(directory.file("swift"), 0o755) == 0)
    let ended = try ScriptRun(
      of: "run-tests", ["sample"], in: directory, environment: ["MINUTES": "0.001"])
    let reason = "error: The tests did not end within 0.001 minutes."
    #expect(ended == ScriptRun(status: 124, lines: [reason, reason, Self.log]))
  }

  /// macOS has none.
  private static let hasTimeout = FileManager.default.isExecutableFile(atPath: "/usr/bin/timeout")

  private static let log = "The whole log: .build/tests-sample.log"

  private static let runs = [
    Run(
      testDescription: "a run that passes",
      output: "✔ Test opens() passed after 0.1 seconds.\n"
        + "✔ Test run with 1 test in 0 suites passed after 0.1 seconds.",
      status: 0, wantedStatus: 0, report: []),
    Run(
      testDescription: "arguments that choose no test",
      output: "✔ Test run with 0 tests in 0 suites passed after 0.1 seconds.",
      status: 0, wantedStatus: 1, report: ["No test ran. \(log)"]),
    Run(
      testDescription: "failed tests",
      output: """
        ◇ Test opens() started.
        ◇ Test "Closes a file" started.
        ◇ Test reads(value:) started.
        ✘ Test opens() recorded an issue at A.swift:12:3: Expectation failed: 1 == 2
        ↳ seed 7
        ✘ Test opens() recorded an issue at A.swift:13:3: Expectation failed: 2 == 3
        ✘ Test opens() failed after 0.1 seconds with 2 issues.
        ✘ Test reads(value:) recorded an issue with 1 argument value → 3 at B.swift:9:5: Caught x
        ✘ Test reads(value:) with 3 test cases failed after 0.1 seconds with 1 issue.
        ✔ Test "Closes a file" passed after 0.1 seconds.
        ✘ Test run with 3 tests in 0 suites failed after 0.1 seconds with 3 issues.
        """,
      wantedStatus: 1,
      report: [
        "FAILED opens() at A.swift:12:3: Expectation failed: 1 == 2 | seed 7",
        "FAILED reads(value:) with 1 argument value → 3 at B.swift:9:5: Caught x",
        log,
      ]),
    Run(
      testDescription: "a crash",
      output: """
        ◇ Test opens() started.
        ◇ Test closes() started.
        ✔ Test closes() passed after 0.1 seconds.
        ModelStore/A.swift:12: Fatal error: Range requires lowerBound <= upperBound
        error: Exited with unexpected signal code 4
        """,
      wantedStatus: 1,
      report: [
        "ModelStore/A.swift:12: Fatal error: Range requires lowerBound <= upperBound",
        "error: Exited with unexpected signal code 4", "had not ended: opens()", log,
      ]),
    Run(
      testDescription: "a crash with a backtrace",
      output: """
        ◇ Test opens() started.
        *** Program crashed: Illegal instruction at 0x00007f9a90d5e7d8 ***
        Thread 0 "main":
        0 0x00007f9a90d5e7d8 wait() in libc.so
        Thread 1 "writer" crashed:
        0      0x000055b123a7e219 insert(_:) + 8 in storecli at /source/Insert.swift:4:11
        12 [ra] 0x000055b123a7e300 write(_:) + 16 in storecli at /source/Write.swift:9:2
          3 [inlined] 0x000055b123a7e400 start + 1 in storecli
        Registers:
        1 rax in use
        """,
      wantedStatus: 1,
      report: [
        "*** Program crashed: Illegal instruction at 0x00007f9a90d5e7d8 ***",
        "at 0 insert(_:) + 8 in storecli at /source/Insert.swift:4:11",
        "at 12 [ra] write(_:) + 16 in storecli at /source/Write.swift:9:2",
        "at 3 [inlined] start + 1 in storecli", "had not ended: opens()", log,
      ]),
    Run(
      testDescription: "a test that does not end", needsTimeout: true,
      output: """
        ◇ Test opens() started.
        ◇ Test closes() started.
        ✔ Test closes() passed after 0.1 seconds.
        """,
      status: 124, wantedStatus: 124,
      report: [
        "error: The tests did not end within 40 minutes.",
        "error: The tests did not end within 40 minutes.", "had not ended: opens()", log,
      ]),
    Run(
      testDescription: "a run that does not begin",
      output: "error: no tests found", status: 2, wantedStatus: 2,
      report: [
        "No failed test is in the log. Its last lines:", "error: no tests found", log,
      ]),
  ]
}
