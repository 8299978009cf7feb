import ModelStore
import Testing

/// The error that `body` throws; nil, with an issue recorded, when it throws none or another kind.
@discardableResult
func failure<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> StoreError? {
  do {
    _ = try body()
    Issue.record("Nothing was thrown.", sourceLocation: sourceLocation)
    return nil
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record("\(error) is no StoreError.", sourceLocation: sourceLocation)
    return nil
  }
}
