// swift-tools-version: 6.3

import PackageDescription

// A package of its own, so that the other examples build without an HTTP server.
let package = Package(
  name: "live-web",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "ModelStore", path: "../..", traits: ["Service"]),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "KitchenBoard",
      dependencies: [
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "ModelStoreService", package: "ModelStore"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("Page")]),
    .executableTarget(
      name: "live-web",
      dependencies: [
        "KitchenBoard",
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "ModelStoreService", package: "ModelStore"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "KitchenBoardTests",
      dependencies: [
        "KitchenBoard",
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
