// swift-tools-version: 6.2
import PackageDescription

// Examples to copy from, one target each, in a package of their own because some need packages and the libraries of the
// root package have none. `make test-examples` builds and tests them; README.md lists them.

func latchkey(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "Latchkey") }
}

/// The tests of an example.
func tests(of example: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: "\(example)Tests", dependencies: [.init(stringLiteral: example)] + dependencies)
}

let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let grpc: Target.Dependency = .product(name: "GRPCCore", package: "grpc-swift-2")

var targets: [Target] = [
    // The first client: sign-in and a list.
    .executableTarget(
        name: "MinimalClient",
        dependencies: latchkey(
            "AuthInterface", "DataAPI", "NetworkAsyncHTTPClient", "NetworkCore", "Storage", "TokenRefresh")),
    tests(of: "MinimalClient", ["NotesServer"] + latchkey("NetworkAsyncHTTPClient", "NetworkCore", "Storage")),

    // The engine alone, under the client that a team has.
    .target(name: "PlainURLSession", dependencies: latchkey("AuthInterface")),
    tests(of: "PlainURLSession", ["NotesServer"] + latchkey("AuthInterface", "Storage", "TokenRefresh")),
    .target(
        name: "PlainAsyncHTTPClient", dependencies: [asyncHTTPClient, nioCore, nioHTTP1] + latchkey("AuthInterface")),
    tests(
        of: "PlainAsyncHTTPClient",
        ["NotesServer", asyncHTTPClient, nioHTTP1] + latchkey("AuthInterface", "Storage", "TokenRefresh")),
    .target(name: "GRPCInterceptor", dependencies: [grpc] + latchkey("AuthInterface")),
    tests(
        of: "GRPCInterceptor",
        [grpc, .product(name: "GRPCInProcessTransport", package: "grpc-swift-2")]
            + latchkey("AuthInterface", "AuthTesting", "Storage", "TokenRefresh")),
    .target(
        name: "AuthenticatedWebSocket",
        dependencies: [nioCore, nioPosix, nioHTTP1, nioWebSocket] + latchkey("AuthInterface")),
    tests(
        of: "AuthenticatedWebSocket",
        [nioCore, nioPosix, nioHTTP1, nioWebSocket]
            + latchkey("AuthInterface", "AuthTesting", "Storage", "TokenRefresh")),

    // What stricter servers demand: another sign-in for a call, and tokens that are bound to a key.
    .target(name: "StepUpSender", dependencies: latchkey("NetworkCore")),
    tests(
        of: "StepUpSender",
        ["NotesServer", hummingbird, nioLocks]
            + latchkey(
                "AuthInterface", "AuthTesting", "NetworkAsyncHTTPClient", "NetworkCore", "Storage", "TokenRefresh")),
    .target(
        name: "KeyBoundClient", dependencies: latchkey("AuthInterface", "NetworkCore", "OAuth2Flows", "TokenRefresh")),
    tests(
        of: "KeyBoundClient",
        ["NotesServer", hummingbird, nioLocks, nioCore, crypto, httpTypes]
            + latchkey(
                "AuthInterface", "NetworkAsyncHTTPClient", "NetworkCore", "OAuth2Flows", "Storage", "TokenRefresh")),
    .target(name: "TokenExchange", dependencies: latchkey("NetworkCore")),
    tests(
        of: "TokenExchange",
        ["NotesServer", hummingbird, nioCore] + latchkey("NetworkAsyncHTTPClient", "NetworkCore")),

    // Parts of one's own, proved by the contracts.
    .target(name: "CustomRefreshHandler", dependencies: latchkey("AuthInterface", "NetworkCore")),
    tests(
        of: "CustomRefreshHandler",
        latchkey(
            "AuthInterface", "AuthTesting", "NetworkAsyncHTTPClient", "NetworkCore", "NetworkDoubles",
            "NetworkTesting")),
    .target(name: "CustomTokenStore", dependencies: latchkey("AuthInterface", "Storage")),
    tests(of: "CustomTokenStore", latchkey("AuthInterface", "AuthTesting", "Storage")),

    // On a server.
    .target(
        name: "HummingbirdService",
        dependencies: [hummingbird] + latchkey("AuthInterface", "NetworkCore", "TokenRefresh")),
    tests(
        of: "HummingbirdService",
        ["NotesServer", hummingbird, asyncHTTPClient, nioCore, nioHTTP1]
            + latchkey("AuthInterface", "DataAPI", "NetworkAsyncHTTPClient", "NetworkCore", "Storage", "TokenRefresh")),
    .target(
        name: "FollowerGateway",
        dependencies: [hummingbird] + latchkey("AuthInterface", "NetworkCore", "TokenRefresh")),
    tests(
        of: "FollowerGateway",
        ["NotesServer", asyncHTTPClient, nioCore, nioHTTP1]
            + latchkey("AuthInterface", "NetworkAsyncHTTPClient", "NetworkCore", "Storage", "TokenRefresh")),
    .target(
        name: "ObservabilityBridge",
        dependencies: [
            logging, metrics,
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ] + latchkey("NetworkCore")),
    tests(
        of: "ObservabilityBridge",
        [
            logging,
            .product(name: "InMemoryLogging", package: "swift-log"),
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "MetricsTestKit", package: "swift-metrics"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        ] + latchkey("NetworkCore", "NetworkRecording", "NetworkTesting")),

    // Doubles for every module, in tests only.
    .testTarget(
        name: "ModuleDoublesTests",
        dependencies: latchkey(
            "AuthInterface", "AuthTesting", "DataAPI", "NetworkCore", "NetworkDoubles", "NetworkTesting", "Storage",
            "TokenRefresh")),

    // The server of the tests: a login, a refresh that rotates, and notes.
    .target(
        name: "NotesServer",
        dependencies: [hummingbird, logging, nioCore, nioLocks, serviceLifecycle]
            + latchkey("AuthInterface", "AuthTesting"),
        path: "Tests/Support/NotesServer"),
]

var traits: Set<Package.Dependency.Trait> = ["AsyncHTTPClient", "Crypto"]

// PostgreSQLStorage needs libpq.
#if os(Linux)
traits.insert("PostgreSQL")
targets += [
    .target(
        name: "ServerWorker",
        dependencies: [logging, metrics, serviceLifecycle]
            + latchkey("AuthInterface", "NetworkCore", "PostgreSQLStorage", "TokenRefresh")),
    tests(
        of: "ServerWorker",
        [
            "NotesServer", logging, serviceLifecycle,
            .product(name: "InMemoryLogging", package: "swift-log"),
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "MetricsTestKit", package: "swift-metrics"),
        ]
            + latchkey(
                "AuthInterface", "DataAPI", "NetworkAsyncHTTPClient", "NetworkCore", "PostgreSQLStorage", "Storage")),
]
#endif

let package = Package(
    name: "Examples",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    dependencies: [
        .package(name: "Latchkey", path: "..", traits: traits),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: targets,
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
