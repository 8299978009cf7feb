/// A change of the journal as JSON, in which dead letters are stored. The position is not part of
/// it.
struct LetterText {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  init(_ change: JournalChange) throws {
    text = try CatalogText.text(of: Content(change))
  }

  /// - Throws: ``StoreError`` with code `corrupt` if the text is not a change.
  func change(at position: Int64) throws(StoreError) -> JournalChange {
    do throws(CatalogText.Problem) {
      let content: Content = try CatalogText.known(from: text)
      return content.change(at: JournalPosition(rawValue: position))
    } catch {
      throw StoreError(
        .corrupt, "The dead letter at position \(position) cannot be read: \(error.reason).")
    }
  }

  private struct Content: Codable {
    let model: String
    let key: [SQLValue]
    let operation: RecordChange.Operation
    let fields: [Field]
    let detail: JournalDetail
    let binding: String?

    struct Field: Codable {
      let name: String
      let old: SQLValue?
      let new: SQLValue?
    }

    init(_ change: JournalChange) {
      model = change.model
      key = change.key
      operation = change.operation
      fields = change.fields.map { Field(name: $0.name, old: $0.old, new: $0.new) }
      detail = change.detail
      binding = change.binding
    }

    func change(at position: JournalPosition) -> JournalChange {
      JournalChange(
        position: position, model: model, key: key, operation: operation,
        fields: fields.map { .init(name: $0.name, old: $0.old, new: $0.new) }, detail: detail,
        binding: binding, malformedTexts: [])
    }
  }
}
