import ArgumentParser

/// The options of every command that changes records.
struct WriteOptions: ParsableArguments {
  @OptionGroup var change: ChangeOptions

  @Flag(help: "Write although validators in Swift exist that this program cannot run.")
  var skipCodeValidators = false
}
