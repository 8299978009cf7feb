/// A benchmark that could not run, or whose contender gave a wrong answer.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
