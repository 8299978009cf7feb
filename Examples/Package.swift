// swift-tools-version: 6.3

import PackageDescription

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "ModelStore", path: "..", traits: ["Service"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "quickstart", dependencies: [.product(name: "ModelStore", package: "ModelStore")]),
    .executableTarget(
      name: "playlist", dependencies: [.product(name: "ModelStore", package: "ModelStore")],
      exclude: ["output.txt"]),
    .executableTarget(
      name: "browse", dependencies: [.product(name: "ModelStore", package: "ModelStore")]),
    .executableTarget(
      name: "bookshelf",
      dependencies: [
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "StoreCommand", package: "ModelStore"),
      ]),
    .executableTarget(
      name: "recipes", dependencies: [.product(name: "ModelStore", package: "ModelStore")],
      exclude: ["output.txt"]),
    .executableTarget(
      name: "service",
      dependencies: [
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "ModelStoreService", package: "ModelStore"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      exclude: ["output.txt"]),
    .testTarget(
      name: "recipesTests",
      dependencies: ["recipes", .product(name: "ModelStoreTesting", package: "ModelStore")]),
  ],
  swiftLanguageModes: [.v6]
)
