// swift-tools-version: 6.2
import PackageDescription

// Examples to copy from, one target each, in a package of their own because some need packages and the libraries of the
// root package have none. `make test-examples` builds and tests them; README.md lists them.

func latchkey(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "Latchkey") }
}

/// Products of a package.
func products(of package: String, _ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: package) }
}

let asyncHTTPClient = products(of: "async-http-client", "AsyncHTTPClient")
let nio = products(of: "swift-nio", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket")
let hummingbird = products(of: "hummingbird", "Hummingbird")
let serviceLifecycle = products(of: "swift-service-lifecycle", "ServiceLifecycle")
let logging = products(of: "swift-log", "Logging")
let metrics = products(of: "swift-metrics", "CoreMetrics", "Metrics")
let tracing = products(of: "swift-distributed-tracing", "Tracing")
let recorders = products(of: "swift-log", "InMemoryLogging") + products(of: "swift-metrics", "MetricsTestKit")
let grpc = products(of: "grpc-swift-2", "GRPCCore")

/// An example with its tests, which get what most tests need beside their own dependencies and the example's.
func example(_ name: String, _ dependencies: [Target.Dependency], tests: [Target.Dependency] = []) -> [Target] {
    let common =
        ["NotesServer"] + asyncHTTPClient + nio + hummingbird
        + latchkey(
            "AuthInterface", "AuthTesting", "DataAPI", "NetworkAsyncHTTPClient", "NetworkCore", "NetworkDoubles",
            "NetworkTesting", "OAuth2Flows", "Storage", "TokenRefresh")
    return [
        name == "MinimalClient"
            ? .executableTarget(name: name, dependencies: dependencies)
            : .target(name: name, dependencies: dependencies),
        .testTarget(name: "\(name)Tests", dependencies: [.init(stringLiteral: name)] + common + tests),
    ]
}

let targets = [
    // The first client: sign-in and a list.
    example(
        "MinimalClient",
        latchkey("AuthInterface", "DataAPI", "NetworkAsyncHTTPClient", "NetworkCore", "Storage", "TokenRefresh")),

    // The engine alone, under the client that a team has.
    example("PlainURLSession", latchkey("AuthInterface")),
    example("PlainAsyncHTTPClient", asyncHTTPClient + nio + latchkey("AuthInterface")),
    example(
        "GRPCInterceptor", grpc + latchkey("AuthInterface"),
        tests: grpc + products(of: "grpc-swift-2", "GRPCInProcessTransport")),
    example("AuthenticatedWebSocket", nio + latchkey("AuthInterface")),

    // What stricter servers demand: another sign-in for a call, and tokens that are bound to a key.
    example("StepUpSender", latchkey("AuthInterface", "NetworkCore")),
    example("KeyBoundClient", latchkey("AuthInterface", "NetworkCore", "OAuth2Flows", "TokenRefresh")),
    example("TokenExchange", latchkey("NetworkCore")),

    // Parts of one's own, proved by the contracts.
    example("CustomRefreshHandler", latchkey("AuthInterface", "NetworkCore")),
    example("CustomTokenStore", latchkey("AuthInterface", "Storage")),
    example("Migration", latchkey("AuthInterface", "Storage")),

    // On a server.
    example("HummingbirdService", hummingbird + latchkey("AuthInterface", "NetworkCore", "TokenRefresh")),
    example("FollowerGateway", hummingbird + latchkey("NetworkCore", "TokenRefresh")),
    example(
        "ServerWorker", logging + metrics + serviceLifecycle + latchkey("AuthInterface", "NetworkCore", "TokenRefresh"),
        tests: logging + metrics + serviceLifecycle + recorders),
    example(
        "ObservabilityBridge", logging + metrics + tracing + latchkey("NetworkCore"),
        tests: logging + metrics + tracing + recorders + products(of: "swift-distributed-tracing", "InMemoryTracing")),

    // The server of the tests: a login, a refresh that rotates, and notes.
    [
        .target(
            name: "NotesServer",
            dependencies: asyncHTTPClient + hummingbird + logging + nio + serviceLifecycle
                + latchkey("AuthInterface", "AuthTesting"),
            path: "Tests/Support/NotesServer")
    ],
].flatMap(\.self)

/// `make` has all by default: see the root's manifest.
let traits: Set<Package.Dependency.Trait> =
    Context.environment["LATCHKEY_ALL_TRAITS"] == nil ? ["AsyncHTTPClient", "Crypto"] : [.defaults]

let package = Package(
    name: "Examples",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    dependencies: [
        .package(name: "Latchkey", path: "..", traits: traits),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
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
