/// A first-in, first-out queue. Adding and removing take constant time, however long the queue is.
struct WaitingLine<Element> {
  /// The first element of a line that was empty when it was added. Most lines never have a second,
  /// so they need no array.
  private var lone: Element?
  /// The elements after `lone`. Those before `head` were taken.
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { (lone == nil ? 0 : 1) + elements.count - head }

  var isEmpty: Bool { lone == nil && elements.count == head }

  var first: Element? { lone ?? (elements.count == head ? nil : elements[head]) }

  mutating func append(_ element: Element) {
    if isEmpty { lone = element } else { elements.append(element) }
  }

  mutating func append(contentsOf more: [Element]) {
    guard more.count > 1 || !isEmpty else {
      lone = more.first
      return
    }
    elements += more.lazy.map { $0 }
  }

  mutating func popFirst() -> Element? {
    if let lone = lone.take() { return lone }
    guard elements.count > head else { return nil }
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
    elements.count == head ? lone.take() : elements.removeLast()
  }

  /// Removes elements from the front until at most `count` remain.
  mutating func keepLast(_ count: Int) {
    while self.count > count { _ = popFirst() }
  }
}

extension WaitingLine: Sendable where Element: Sendable {}
