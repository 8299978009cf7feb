/// A rule in Swift that decides whether a transaction may commit. It sees the net change of each
/// record of its model and may query; it changes nothing.
///
/// It binds writers that run it: transactions of stores opened with it. Its name stands in the
/// file's catalog, so that other programs know that they cannot check it. For a rule that must
/// hold for every writer, declare a ``FieldRule`` instead.
public struct Validator: Sendable {
  public let name: String
  /// The model whose changes it judges.
  public let model: String
  let judge: @Sendable (RecordChange, borrowing ReadTransaction) throws -> [Rejection]

  struct Rejection {
    var message: String
    var fields: [String]
  }

  /// - Parameters:
  ///   - name: Unique in the store: `Track.notLongerThanAlbum`. A store that is opened later on
  ///     the same file in this process puts its own validator in the place of one of this name and
  ///     model.
  ///   - body: Called once for each changed record, after bindings and before COMMIT, on the
  ///     writing thread. The reads it is lent see the transaction's own writes. Reject by
  ///     returning a rejection; throw only when no judgement is possible, which rolls back too.
  public init<M: Model>(
    _ name: String, _ model: M.Type,
    _ body: @escaping @Sendable (ModelChange<M>, borrowing ReadTransaction) throws -> Verdict<M>
  ) {
    self.name = name
    self.model = M.schema.name
    judge = { change, reads in
      try body(try ModelChange<M>(change), reads).rejections.map { rejection in
        Rejection(
          message: rejection.message,
          fields: rejection.fields.map { M.schema.fields[$0].name })
      }
    }
  }
}

/// What a validator says of one change.
public struct Verdict<M: Model>: Sendable {
  let rejections: [(message: String, fields: [Int])]

  /// The change may commit.
  public static var accept: Verdict { Verdict(rejections: []) }

  /// The change may not commit.
  ///
  /// - Parameters:
  ///   - message: What is wrong, to follow the field's name: "must not be after the due date".
  ///   - fields: The fields it is about; none for the whole record.
  public static func reject(
    _ message: String, _ fields: any PartialKeyPath<M> & Sendable...
  ) -> Verdict {
    Verdict(
      rejections: [
        (message, fields.compactMap { M.definition.fieldIndex(of: $0) })
      ])
  }

  /// Both verdicts together: every rejection of either.
  public func and(_ other: Verdict) -> Verdict {
    Verdict(rejections: rejections + other.rejections)
  }
}
