// swift-tools-version: 6.3

import PackageDescription

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "ModelStore", path: "..")],
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
    .testTarget(
      name: "recipesTests",
      dependencies: ["recipes", .product(name: "ModelStoreTesting", package: "ModelStore")]),
  ],
  swiftLanguageModes: [.v6]
)
