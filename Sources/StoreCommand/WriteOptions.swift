import ArgumentParser

/// What every command takes that changes records.
struct WriteOptions: ParsableArguments {
  @OptionGroup var change: ChangeOptions

  @Flag(help: "Write although rules in Swift exist that this program cannot check.")
  var skipCodeValidators = false
}
