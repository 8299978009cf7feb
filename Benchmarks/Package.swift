// swift-tools-version: 6.3

import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(
      name: "Postgres",
      description: "The workloads of shared stores, with PostgreSQL's client library."
    )
  ],
  dependencies: [
    .package(
      name: "ModelStore", path: "..",
      traits: ["Service", .trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.10.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "RawSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "RawPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "RawSQLite",
        .target(name: "RawPostgres", condition: .when(traits: ["Postgres"])),
        .product(name: "ModelStore", package: "ModelStore"),
        .product(name: "ModelStoreService", package: "ModelStore"),
        .product(
          name: "ModelStorePostgres", package: "ModelStore",
          condition: .when(traits: ["Postgres"])),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
  ]
)

for target in package.targets where target.type == .executable {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
}
