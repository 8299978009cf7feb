/// Rules about how large things may be.
extension Project {
  static let functionsFitTheEye: Rule = { project in
    project.swift(under: "Sources").flatMap { file in
      file.functions.flatMap { function in
        var figures: [String] = []
        if function.lineCount > 60 { figures.append("\(function.lineCount) lines, not at most 60") }
        if function.parameterCount > 5, !function.isMemberwise {
          figures.append(
            "\(function.parameterCount) parameters without a default value, not at most 5")
        }
        if function.depth > 4 { figures.append("\(function.depth) braces deep, not at most 4") }
        return figures.map {
          Finding(path: file.path, line: function.line, message: "\(function.name): \($0)")
        }
      }
    }
  }
}
