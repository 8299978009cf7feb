/// W15: one small command of the command line, from the start of the program to its end.
struct CommandWorkload {
  enum Command: String {
    /// Show one record by its key.
    case get
    /// Change a field of one record.
    case update
    /// Complete the beginning of a key in the shell.
    case completion
  }

  let command: Command
  /// The models in the file, of which the command uses one.
  let modelCount: Int
  /// The records of that model.
  let count: Int
  /// The maximum number of times that the program runs in one run.
  let runCount = 20

  var workload: Workload {
    let models = modelCount == 1 ? "1 model" : "\(modelCount) models"
    return Workload(
      id: command == .completion ? "W15-completion" : "W15-\(command.rawValue)-\(modelCount)",
      title: "\(title) among \(count.grouped), in a file of \(models) (FULL)",
      unit: "run", contenders: { contenders }, peers: .programs)
  }

  private var title: String {
    switch command {
    case .get: "show a record by its key"
    case .update: "change a field of a record"
    case .completion: "complete a key in bash"
    }
  }
}
