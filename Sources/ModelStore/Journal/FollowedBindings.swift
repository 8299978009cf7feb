/// Tells which changes of a transaction followed a binding. The journal holds what was done and not
/// why, so that is concluded: from what bindings read and keep, and from the order of changes.
struct FollowedBindings: Sendable {
  private struct Candidate {
    let name: String
    /// What it reads of others.
    let reads: Set<BindingSchema.Field>
    let models: Set<String>
  }

  /// By the field that follows.
  private var candidates: [BindingSchema.Field: [Candidate]] = [:]
  /// The fields that nobody writes, which change along with others.
  private let generated: Set<BindingSchema.Field>

  /// - Parameter bindings: Those of which `models` do not have all names are left out.
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
    /// Those of which records came or went.
    fileprivate var models: Set<String> = []
  }

  /// The binding that `change` followed, and notes the change in `progress`.
  ///
  /// - Returns: nil where none did, or more than one may have.
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
