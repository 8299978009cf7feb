import ArgumentParser

/// How many transactions are taken back one after the other.
enum StepCount {
  static func check(_ count: Int, isDryRun: Bool) throws {
    guard count >= 1 else { throw ValidationError("The count is 1 or more.") }
    guard count == 1 || !isDryRun else {
      throw ValidationError("--dry-run looks at one transaction.")
    }
  }
}
