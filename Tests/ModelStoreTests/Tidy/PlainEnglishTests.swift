import Testing

@Suite(.tags(.unit)) struct PlainEnglishTests {
  @Test func phrasesAndFormsOfAddressCountAsWholeWordsOutsideCode() {
    var english = PlainEnglish()
    english.add("You are told anew, but for `nobody`. Your retold story is put right.")
    #expect(english == PlainEnglish(wordCount: 13, dialectCount: 4, addressCount: 2))
  }

  @Test func documentsAreReadWithoutCodeAndSourcesByCommentsAndMessages() {
    let project = Project(texts: [
      "A.md": "You are told.\n```\nnobody\n```\n",
      "Sources/A/A.swift": "/// Told.\nlet a = 1  // anew\nlet b = \"so many rows\" + \"told\"\n",
    ])
    #expect(
      project.documentEnglish == PlainEnglish(wordCount: 3, dialectCount: 1, addressCount: 1))
    #expect(
      project.sourceEnglish(under: "Sources")
        == PlainEnglish(wordCount: 5, dialectCount: 3, addressCount: 0))
  }

  /// GRDB has 2 to 4 of these words in 10,000, and 130 of “you” in its documents.
  @Test func documentsAndSourcesAreInPlainEnglish() throws {
    let project = try Project.checkout.get()
    let documents = project.documentEnglish
    let sources = project.sourceEnglish(under: "Sources", "Benchmarks", "Examples")
    print("Documents have \(documents); sources have \(sources).")
    #expect(documents.rate(documents.dialectCount) <= 5)
    #expect(documents.rate(documents.addressCount) >= 130)
    #expect(sources.rate(sources.dialectCount) <= 6)
  }
}
