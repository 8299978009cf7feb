extension String {
  /// The messages of an import in batches without the lines that name its token, which is random.
  var withoutResumption: String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("--resume ") }.joined(separator: "\n")
  }
}
