// swift-tools-version: 6.2
import PackageDescription

// What the layer costs, measured beside the libraries below it: `make bench`. A package of its own, because it has
// dependencies, and is built for release.

/// `make bench-debug` has all by default: see the root's manifest.
let traits: Set<Package.Dependency.Trait> =
    Context.environment["LATCHKEY_ALL_TRAITS"] == nil ? ["AsyncHTTPClient", "TurboJPEG"] : [.defaults]

func products(of package: String, _ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: package) }
}

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Latchkey", path: "..", traits: traits),
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
            name: "BenchServer", dependencies: products(of: "swift-nio", "NIOCore", "NIOPosix", "NIOHTTP1")),
        .executableTarget(
            name: "bench",
            dependencies: ["CountingMalloc", "PlainPNG", "BenchServer"]
                + products(
                    of: "Latchkey", "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkURLSession",
                    "NetworkAsyncHTTPClient", "NetworkTransfers", "Storage", "Imaging")
                + products(of: "swift-argument-parser", "ArgumentParser")
                + products(of: "async-http-client", "AsyncHTTPClient")
                + products(of: "swift-nio", "NIOCore", "NIOConcurrencyHelpers", "NIOHTTP1")
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
