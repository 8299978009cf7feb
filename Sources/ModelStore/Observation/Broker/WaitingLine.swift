/// A first-in, first-out queue. Adding and removing take constant time, however long the queue is.
struct WaitingLine<Element> {
  /// The elements before `head` were taken.
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }

  var isEmpty: Bool { count == 0 }

  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func append(contentsOf more: [Element]) { elements += more.lazy.map { $0 } }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      elements[head] = nil
      head += 1
      if head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  mutating func popLast() -> Element? {
    isEmpty ? nil : elements.removeLast()
  }

  /// Removes elements from the front until at most `count` remain.
  mutating func keepLast(_ count: Int) {
    while self.count > count { _ = popFirst() }
  }
}

extension WaitingLine: Sendable where Element: Sendable {}
