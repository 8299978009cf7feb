#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax

  /// Why a declaration cannot be a model. Each message ends with what to write instead.
  struct Refusal: DiagnosticMessage {
    let diagnosticID: MessageID
    let message: String
    var severity: DiagnosticSeverity { .error }

    private init(_ identifier: String, _ message: String) {
      diagnosticID = MessageID(domain: "ModelStore", id: identifier)
      self.message = message
    }

    static func notAStruct(name: String) -> Refusal {
      Refusal("notAStruct", "a model is a value; write 'struct \(name)'")
    }

    static func generic(name: String) -> Refusal {
      Refusal(
        "generic",
        "a model cannot be generic, because it is one table; write a struct of its own for each use "
          + "of '\(name)'")
    }

    static func insideGeneric(name: String) -> Refusal {
      Refusal(
        "insideGeneric",
        "a model cannot be inside a generic type, because it is one table; move '\(name)' out of it"
      )
    }

    static func privateInside(name: String) -> Refusal {
      Refusal(
        "privateInside",
        "'private' hides a nested model from its own conformance; write 'fileprivate struct \(name)'"
      )
    }

    static func noKey(name: String) -> Refusal {
      Refusal(
        "noKey",
        "'\(name)' has no key; add 'var id: Int64', or write @Key before the properties that "
          + "identify a record")
    }

    static func optionalKey(_ property: String, type: String) -> Refusal {
      Refusal(
        "optionalKey",
        "the key '\(property)' cannot be optional, because many records could lack it; "
          + "write '\(property): \(type)'")
    }

    static func nameTaken(_ name: String) -> Refusal {
      Refusal("nameTaken", "@Model declares '\(name)' itself; give this declaration another name")
    }

    static func keyNameTaken() -> Refusal {
      Refusal(
        "keyNameTaken",
        "'key' is the record's key; rename the property, and keep its column with "
          + "@Column(name: \"key\")")
    }

    static func missingType(_ property: String, type: String) -> Refusal {
      Refusal("missingType", "a field needs its type written out; write '\(property): \(type)'")
    }

    static let notOneName = Refusal(
      "notOneName", "a field has one name; declare each property on a line of its own")

    static func lazyField(_ property: String) -> Refusal {
      Refusal(
        "lazyField",
        "a lazy property cannot be a field, because a record is read whole; write "
          + "'var \(property)' without 'lazy', or compute it")
    }

    static func constantWithValue(_ property: String) -> Refusal {
      Refusal(
        "constantWithValue",
        "'let \(property)' has its value already and cannot be read from a record; write "
          + "'var \(property)', or 'static let \(property)' if it is not a field")
    }

    static let conditionalField = Refusal(
      "conditionalField",
      "a stored property inside #if would change the table from build to build; move it out of #if")

    static func duplicateField(_ property: String) -> Refusal {
      Refusal(
        "duplicateField", "'\(property)' is declared twice; remove or rename one of the properties")
    }

    static func duplicateColumn(_ column: String, property: String) -> Refusal {
      Refusal(
        "duplicateColumn",
        "the column '\(column)' belongs to '\(property)' already; SQLite does not distinguish upper "
          + "from lower case in names; choose another with @Column(name:)")
    }

    static func markerNeedsField(_ marker: String) -> Refusal {
      Refusal(
        "markerNeedsField",
        "@\(marker) needs a stored property, because only those are kept; remove @\(marker)")
    }

    static func markerOutsideModel(_ marker: String) -> Refusal {
      Refusal(
        "markerOutsideModel",
        "@\(marker) belongs to a stored property in the body of a @Model struct; remove @\(marker)")
    }

    static func markerOnList(_ marker: String) -> Refusal {
      Refusal(
        "markerOnList", "an ordered list is not a column of its record; remove @\(marker)")
    }

    static func repeatedMarker(_ marker: String) -> Refusal {
      Refusal("repeatedMarker", "@\(marker) is written twice; remove one of them")
    }

    static let noRules = Refusal(
      "noRules", "@Validate needs a rule; write for example '@Validate(.notBlank)'")

    static let referenceNeedsModel = Refusal(
      "referenceNeedsModel",
      "@Reference needs the model that it refers to; write for example '@Reference(Album.self)'")

    static func setNullNeedsOptional(_ property: String, type: String) -> Refusal {
      Refusal(
        "setNullNeedsOptional",
        "'.setNull' needs a field that can be nil; write '\(property): \(type)?'")
    }

    static func orderedNeedsList(_ property: String, type: String) -> Refusal {
      Refusal("orderedNeedsList", "@Ordered needs an OrderedList; write '\(property): \(type)'")
    }

    static let listNeedsOrdered = Refusal(
      "listNeedsOrdered", "an OrderedList is not a column of its record; write @Ordered before it")
  }

  /// The action of a fix-it, as shown in its menu.
  struct Remedy: FixItMessage {
    let fixItID: MessageID
    let message: String

    init(_ message: String) {
      fixItID = MessageID(domain: "ModelStore", id: "remedy")
      self.message = message
    }
  }

  extension FixIt {
    /// Returns a fix-it that replaces `node` with `text`, leaving the space around it.
    static func write(
      _ text: String, insteadOf node: some SyntaxProtocol, message: String
    ) -> FixIt {
      FixIt(
        message: Remedy(message),
        changes: [
          .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia,
            with: text, in: Syntax(node))
        ])
    }

    /// Returns a fix-it that inserts `text` right before `node`.
    static func insert(
      _ text: String, before node: some SyntaxProtocol, message: String
    ) -> FixIt {
      let position = node.positionAfterSkippingLeadingTrivia
      return FixIt(
        message: Remedy(message),
        changes: [.replaceText(range: position..<position, with: text, in: Syntax(node))])
    }

    /// Returns a fix-it that inserts `text` right after `node`.
    static func insert(
      _ text: String, after node: some SyntaxProtocol, message: String
    ) -> FixIt {
      let position = node.endPositionBeforeTrailingTrivia
      return FixIt(
        message: Remedy(message),
        changes: [.replaceText(range: position..<position, with: text, in: Syntax(node))])
    }

    /// Returns a fix-it that removes `node` and the space after it.
    static func remove(_ node: some SyntaxProtocol) -> FixIt {
      let end =
        node.lastToken(viewMode: .sourceAccurate)?.nextToken(viewMode: .sourceAccurate)?
        .positionAfterSkippingLeadingTrivia ?? node.endPosition
      return FixIt(
        message: Remedy("remove '\(node.trimmedDescription)'"),
        changes: [
          .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<end, with: "", in: Syntax(node))
        ])
    }
  }
#endif
