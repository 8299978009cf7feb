import ArgumentParser

/// How many transactions are taken back one after the other.
enum StepCount {
  static func check(_ count: Int) throws {
    guard count >= 1 else { throw ValidationError("The count is 1 or more.") }
  }
}
