import Testing

/// The public interface is counted as the compiler's symbol graph counts it.
@Suite(.tags(.unit)) struct PublicInterfaceTests {
  private func interface(_ text: String) -> PublicInterface {
    PublicInterface(of: [SourceText(path: "Sources/ModelStore/A.swift", text: text)])
  }

  @Test("public types count, including nested ones, but not types inside hidden ones")
  func types() {
    let found = interface(
      """
      public struct A { public enum B { case one } }
      extension A { public final class C {}; package struct D { public struct E {} }; struct F {} }
      package enum G { public struct H {} }
      public struct _I { public struct J {} }
      """)
    #expect(found.types == ["A", "A.B", "A.C"])
  }

  @Test("members count where they are public, or required by a public protocol")
  func members() {
    let found = interface(
      """
      public struct A {
        public let a: Int
        public private(set) var c = { let inner = 1; return inner }()
        public package(set) var d: Int
        package var e: Int
        private(set) var f: Int
        public init() { func inner() {} }
        func g() {}
        @discardableResult public static func h() -> Int { 1 }
        public static func == (left: A, right: A) -> Bool { true }
        public subscript(name: String) -> Int { 1 }
        public var _k: Int { 1 }
      }
      public protocol P { var a: Int { get }; func b() }
      protocol Q { func a() }
      extension String { public var text: String { self }; var own: Int { 1 } }
      package struct R { public let a: Int }
      """)
    #expect(
      found.members == [
        "A.a", "A.c", "A.d", "A.init", "A.h", "A.==", "A.subscript", "P.a", "P.b", "String.text",
      ])
  }

  @Test("each case counts, with or without values")
  func cases() {
    let found = interface(
      """
      public enum A: Int {
        case a, b(c: Int, (Int) -> Int), d = 1, e = -2
        indirect case f(A)
        var own: Int { switch self { case .a: 1 default: 2 } }
      }
      public enum B: String { case a = "x", b = "y"
        case c }
      enum C { case a }
      """)
    #expect(found.cases == ["A.a", "A.b", "A.d", "A.e", "A.f", "B.a", "B.b", "B.c"])
  }
}
