import Foundation
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct StoreErrorTests {
  @Test func onlyALockIsWorthTheSameCallAgain() {
    #expect(
      StoreError.Code.allCases.filter { StoreError($0, "").isRetryable } == [.busy])
  }

  @Test func theMessageIsTheLocalizedDescription() {
    let error = StoreError(.recordNotFound, "There is no Artist with the key 7.", model: "Artist")
    #expect(error.localizedDescription == "There is no Artist with the key 7.")
    let hidden: any Error = error
    #expect(hidden.localizedDescription == "There is no Artist with the key 7.")
  }
}
