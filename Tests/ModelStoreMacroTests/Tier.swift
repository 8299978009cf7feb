import Testing

#if !Macros
  #error("Build the tests by Scripts/swift, which chooses the traits.")
#endif

/// The tiers of tests. Each suite has exactly one; `make quick` runs the first, `make laws` the
/// second.
extension Tag {
  /// Small examples in this process, without random input.
  @Tag static var unit: Self
  /// A law that is checked with random or exhaustive input.
  @Tag static var law: Self
  /// Programs that the test starts, or facilities of the system such as mounts.
  @Tag static var process: Self
  /// Kills, power cuts and damaged files.
  @Tag static var fault: Self
}
