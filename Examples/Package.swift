// swift-tools-version: 6.2
import PackageDescription

// Examples that need packages, in a package of their own because the libraries of the root package have none. Each
// target is one example, to copy from. `make test-examples` builds and tests them.

let package = Package(
    name: "Examples",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [.library(name: "ObservabilityBridge", targets: ["ObservabilityBridge"])],
    dependencies: [
        .package(name: "Latchkey", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // Calls as log lines, metrics and spans.
        .target(
            name: "ObservabilityBridge",
            dependencies: [
                .product(name: "NetworkCore", package: "Latchkey"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "ObservabilityBridgeTests",
            dependencies: [
                "ObservabilityBridge",
                .product(name: "NetworkCore", package: "Latchkey"),
                .product(name: "NetworkRecording", package: "Latchkey"),
                .product(name: "NetworkTesting", package: "Latchkey"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
