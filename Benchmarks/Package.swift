// swift-tools-version: 6.2
import PackageDescription

// What the layer costs, measured beside the libraries below it: `make bench`. A package of its own, because it has
// dependencies, and is built for release.

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Latchkey", path: "..", traits: ["AsyncHTTPClient", "TurboJPEG"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // Counts allocations: it takes the place of `malloc` in the program that links it.
        .target(name: "CountingMalloc"),
        // libpng, to compare with.
        .target(name: "PlainPNG", linkerSettings: [.linkedLibrary("png16", .when(platforms: [.linux]))]),
        // A server in a process of its own, so that no measurement of a client contains it.
        .executableTarget(
            name: "BenchServer",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CountingMalloc",
                "PlainPNG",
                "BenchServer",
                .product(name: "AuthInterface", package: "Latchkey"),
                .product(name: "TokenRefresh", package: "Latchkey"),
                .product(name: "NetworkCore", package: "Latchkey"),
                .product(name: "NetworkURLSession", package: "Latchkey"),
                .product(name: "NetworkAsyncHTTPClient", package: "Latchkey"),
                .product(name: "NetworkTransfers", package: "Latchkey"),
                .product(name: "Storage", package: "Latchkey"),
                .product(name: "Imaging", package: "Latchkey"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CountingMalloc", "PlainPNG"].contains(target.name) {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
