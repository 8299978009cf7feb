// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

let package = Package(
  name: "ModelStore",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "ModelStore", targets: ["ModelStore"]),
    .library(name: "ModelStoreMacro", targets: ["ModelStoreMacro"]),
    .library(name: "ModelStoreTesting", targets: ["ModelStoreTesting"]),
    .library(name: "ModelStoreService", targets: ["ModelStoreService"]),
    .library(name: "ModelStorePostgres", targets: ["ModelStorePostgres"]),
    .library(name: "StoreCommand", targets: ["StoreCommand"]),
    .library(name: "CSQLite", targets: ["CSQLite"]),
    .executable(name: "storecli", targets: ["storecli"]),
  ],
  traits: [
    .trait(
      name: "Macros",
      description: "The product ModelStoreMacro, with the package that macros are written with."
    ),
    .trait(
      name: "Service",
      description: "The product ModelStoreService, with the packages that servers log and trace by."
    ),
    .trait(
      name: "Postgres",
      description: "The product ModelStorePostgres, with PostgreSQL's client library."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.10.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
    ),
    .systemLibrary(
      name: "CLibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
    ),
    .target(name: "SchemaCompiler"),
    .target(
      name: "ModelStore",
      dependencies: ["CSQLite", "SchemaCompiler"],
      resources: [.embedInCode("Migrations")]
    ),
    .target(
      name: "ModelMacroExpansion",
      dependencies: [
        .product(
          name: "SwiftDiagnostics", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]
    ),
    .macro(
      name: "ModelStoreMacroPlugin",
      dependencies: [
        "ModelMacroExpansion",
        .product(
          name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])
        ),
        .product(
          name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ]
    ),
    .target(
      name: "ModelStoreMacro",
      dependencies: [
        "ModelStore", .target(name: "ModelStoreMacroPlugin", condition: .when(traits: ["Macros"])),
      ]),
    .target(name: "ModelStoreTesting", dependencies: ["ModelStore"]),
    .target(
      name: "ModelStoreService",
      dependencies: [
        "ModelStore",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Service"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Service"])),
        .product(
          name: "Tracing", package: "swift-distributed-tracing",
          condition: .when(traits: ["Service"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Service"])),
      ]
    ),
    .target(
      name: "ModelStorePostgres",
      dependencies: [
        "ModelStore", .target(name: "CLibPQ", condition: .when(traits: ["Postgres"])),
      ]
    ),
    .target(name: "RecordFormats"),
    .target(
      name: "StoreCommand",
      dependencies: [
        "ModelStore",
        "RecordFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(
      name: "storecli",
      dependencies: [
        "StoreCommand", "ModelStore",
        .target(name: "ModelStorePostgres", condition: .when(traits: ["Postgres"])),
      ]),
    .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
    .target(name: "FaultLedger", dependencies: ["ModelStore"], path: "Tests/FaultLedger"),
    .target(
      name: "LedgerConformance", dependencies: ["ModelStore"], path: "Tests/LedgerConformance"),
    .executableTarget(
      name: "FaultWriter", dependencies: ["FaultLedger", "ModelStore", "CSQLite", "CFaultVFS"],
      path: "Tests/FaultWriter"),
    .executableTarget(
      name: "SharedMember", dependencies: ["FaultLedger", "ModelStore", "ModelStorePostgres"],
      path: "Tests/SharedMember"),
    .executableTarget(
      name: "FaultService",
      dependencies: [
        "FaultLedger", "ModelStore", "ModelStoreService",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Service"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Service"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle",
          condition: .when(traits: ["Service"])),
      ],
      path: "Tests/FaultService"),
    .testTarget(
      name: "ModelStoreTests",
      dependencies: [
        "ModelStore", "ModelStoreTesting", "LedgerConformance", "SchemaCompiler", "CSQLite",
        "CFaultVFS",
      ]),
    .testTarget(
      name: "storecliTests",
      dependencies: ["storecli", "StoreCommand", "RecordFormats", "ModelStore", "CSQLite"],
      exclude: ["Recorded"]
    ),
    .testTarget(name: "RecordFormatsTests", dependencies: ["RecordFormats"]),
    .testTarget(
      name: "ModelStoreServiceTests",
      dependencies: [
        "ModelStoreService", "ModelStore", "CSQLite",
        .product(
          name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["Service"])),
        .product(
          name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Service"])),
        .product(
          name: "InMemoryTracing", package: "swift-distributed-tracing",
          condition: .when(traits: ["Service"])),
        .product(
          name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
          condition: .when(traits: ["Service"])),
      ]
    ),
    .testTarget(
      name: "ModelStorePostgresTests",
      dependencies: [
        "ModelStorePostgres", "ModelStore", "CSQLite", "LedgerConformance", "SharedMember",
        "storecli",
      ]),
    .testTarget(
      name: "StoreFaultTests",
      dependencies: [
        "FaultLedger", "FaultService", "FaultWriter", "ModelStore", "CSQLite", "storecli",
      ]
    ),
    .testTarget(
      name: "ModelStoreMacroTests",
      dependencies: [
        "ModelStoreMacro",
        "ModelMacroExpansion",
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax",
          condition: .when(traits: ["Macros"])),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system && target.name != "CFaultVFS" {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
}

// The tests open thousands of stores, and would spend a third of their time in a schema compiler
// that is not optimized. SwiftPM refuses such flags in the dependencies of a package, so only the
// scripts of this one ask for them.
if Context.environment["MODELSTORE_TEST_BUILD"] == "1",
  let target = package.targets.first(where: { $0.name == "SchemaCompiler" })
{
  target.swiftSettings?.append(
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
}
