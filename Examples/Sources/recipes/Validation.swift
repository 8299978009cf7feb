import ModelStore

/// Judges each commit of this program. It sees the whole transaction.
let noTwins = Validator("Book.noTwins", Book.self) { change, reads in
  guard let book = change.new else { return .accept }
  return try reads.count(Book.where { $0.title == book.title }) == 1
    ? .accept : .reject("is here already", \.title)
}

/// A refused write changes nothing, and lists all that is wrong.
func refuse(in store: Store) throws {
  do {
    try store.write { tx in
      try tx.insert(Book(id: 4, title: "Powers", pages: 502, authorID: 1))
    }
  } catch let error as StoreError where error.code == .rejected {
    for violation in error.violations { print("\(violation.fields): \(violation.message)") }
  }
}
