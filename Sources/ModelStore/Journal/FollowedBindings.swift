/// Finds the changes of a transaction that a binding made. The journal records changes without
/// their causes. So the causes are inferred from the fields that bindings read and write, and from
/// the order of changes.
struct FollowedBindings: Sendable {
  private struct Candidate {
    let name: String
    /// The fields of other records that it reads.
    let reads: Set<BindingSchema.Field>
    let models: Set<String>
  }

  /// By the field that the binding updates.
  private var candidates: [BindingSchema.Field: [Candidate]] = [:]
  /// The generated fields, which nothing writes directly.
  private let generated: Set<BindingSchema.Field>

  /// - Parameter bindings: A binding is ignored if `models` lacks one of its names.
  init(_ bindings: [BindingSchema], in models: [ModelSchema]) {
    generated = Set(
      models.flatMap { model in
        model.fields.filter { $0.generated != nil }
          .map { BindingSchema.Field(model: model.name, field: $0.name) }
      })
    for binding in bindings {
      guard let inputs = Self.inputs(of: binding, in: models) else { continue }
      var ends = [binding.target]
      if case .twoWay(let twoWay) = binding.formula { ends.append(twoWay.left) }
      for end in ends {
        let reads = Set(inputs + ends.filter { $0 != end })
        candidates[end, default: []].append(
          Candidate(name: binding.name, reads: reads, models: Set(reads.map(\.model))))
      }
    }
  }

  private static func inputs(
    of binding: BindingSchema, in models: [ModelSchema]
  ) -> [BindingSchema.Field]? {
    do throws(StoreError) {
      return try binding.inputs(in: models)
    } catch {
      return nil
    }
  }

  /// What a transaction has done so far.
  struct Progress {
    fileprivate var fields: Set<BindingSchema.Field> = []
    /// The models with inserted or deleted records.
    fileprivate var models: Set<String> = []
  }

  /// Returns the binding that made `change`, and adds the change to `progress`.
  ///
  /// - Returns: nil if no binding can have made the change, or more than one.
  func binding(of change: JournalChange, after progress: inout Progress) -> String? {
    guard !candidates.isEmpty else { return nil }
    let fields = change.fields.map { BindingSchema.Field(model: change.model, field: $0.name) }
    defer {
      if change.operation == .update {
        progress.fields.formUnion(fields)
      } else {
        progress.models.insert(change.model)
      }
    }
    let written = fields.filter { !generated.contains($0) }
    // A binding writes one field of a record.
    guard change.operation == .update, written.count == 1, let found = candidates[written[0]]
    else { return nil }
    let answering = found.filter {
      !$0.reads.isDisjoint(with: progress.fields) || !$0.models.isDisjoint(with: progress.models)
    }
    return answering.count == 1 ? answering[0].name : nil
  }
}
