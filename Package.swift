// swift-tools-version: 6.2
import PackageDescription

// Latchkey ships libraries only. Every package below belongs to a trait that is off by default, so
// `swift package show-dependencies` prints "No external dependencies found".

/// The modules, in dependency order. A list of dependencies is complete: the module imports these and no others.
/// `Tests/RepositoryTests` compares each list with `AllowTable.swift`, and every import with both.
let modules: [Target] = [
    // Locks, clocks, backoff. A leaf: it must never depend on another module.
    .target(name: "ConcurrencyPrimitives", path: "Modules/ConcurrencyPrimitives"),

    // Token values, and the protocols to implement. Only ConcurrencyPrimitives may be added: all others depend on it.
    .target(name: "AuthInterface", dependencies: ["ConcurrencyPrimitives"], path: "Modules/AuthInterface"),

    .target(
        name: "TokenRefresh",
        dependencies: ["AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/TokenRefresh"
    ),
    .target(
        name: "NetworkCore",
        dependencies: ["AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/NetworkCore"
    ),
    .target(
        name: "NetworkURLSession",
        dependencies: ["NetworkCore", "ConcurrencyPrimitives"],
        path: "Modules/NetworkURLSession"
    ),
    .target(
        name: "NetworkCaching",
        dependencies: ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/NetworkCaching"
    ),
    .target(
        name: "NetworkTransfers",
        dependencies: ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/NetworkTransfers"
    ),
    .target(
        name: "NetworkRecording",
        dependencies: ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/NetworkRecording"
    ),
    // Empty unless the trait is on.
    .target(
        name: "NetworkAsyncHTTPClient",
        dependencies: [
            "NetworkCore", "ConcurrencyPrimitives",
            .product(
                name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOHPACK", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(
                name: "NIOHTTPCompression", package: "swift-nio-extras",
                condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["AsyncHTTPClient"])),
        ],
        path: "Modules/NetworkAsyncHTTPClient"
    ),
    .target(
        name: "DataAPI",
        dependencies: ["NetworkCore", "NetworkTransfers", "AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/DataAPI"
    ),
    .target(
        name: "OAuth2Flows",
        dependencies: [
            "NetworkCore", "AuthInterface", "ConcurrencyPrimitives",
            .product(
                name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux], traits: ["Crypto"])),
        ],
        path: "Modules/OAuth2Flows"
    ),
    .target(
        name: "Storage",
        dependencies: ["AuthInterface", "ConcurrencyPrimitives"],
        path: "Modules/Storage"
    ),
    // Empty unless the trait is on.
    .target(
        name: "PostgreSQLStorage",
        dependencies: [
            "Storage", "AuthInterface", "ConcurrencyPrimitives",
            .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        ],
        path: "Modules/PostgreSQLStorage"
    ),
    .target(
        name: "Imaging",
        dependencies: [
            .target(name: "CTurboJPEG", condition: .when(platforms: [.linux], traits: ["TurboJPEG"])),
            .target(name: "CPNG", condition: .when(platforms: [.linux], traits: ["TurboJPEG"])),
        ],
        path: "Modules/Imaging"
    ),
    .target(
        name: "NetworkCombine",
        dependencies: [
            "NetworkCore", "AuthInterface",
            .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
        ],
        path: "Modules/NetworkCombine"
    ),
    // What contract suites of any interface need. Like the other test kits, it must never import a test framework.
    .target(
        name: "ContractTesting", dependencies: ["ConcurrencyPrimitives"], path: "Modules/ContractTesting"
    ),
    .target(
        name: "AuthTesting",
        dependencies: ["AuthInterface", "ContractTesting", "ConcurrencyPrimitives"],
        path: "Modules/AuthTesting"
    ),
    // Test doubles without a test framework: it must never import one.
    .target(
        name: "NetworkDoubles",
        dependencies: ["NetworkCore", "NetworkRecording", "ConcurrencyPrimitives"],
        path: "Modules/NetworkDoubles"
    ),
    .target(
        name: "NetworkTesting",
        dependencies: [
            "NetworkDoubles", "NetworkCore", "NetworkRecording", "ContractTesting", "ConcurrencyPrimitives",
        ],
        path: "Modules/NetworkTesting"
    ),
]

/// C libraries of the system. Their headers are needed only when the trait is on.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CTurboJPEG",
        path: "Modules/SystemLibraries/CTurboJPEG",
        pkgConfig: "libturbojpeg",
        providers: [.apt(["libturbojpeg0-dev"])]
    ),
    .systemLibrary(
        name: "CPNG", path: "Modules/SystemLibraries/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(
        name: "CPostgreSQL",
        path: "Modules/SystemLibraries/CPostgreSQL",
        pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"])]
    ),
]

/// One test target for each module, and the programs that tests start as separate processes.
let tests: [Target] = [
    // What the tests of several modules need: other processes, folders for their files, inputs for parsers, waiting.
    .target(
        name: "TestSupport", dependencies: ["AuthInterface", "ConcurrencyPrimitives"], path: "Tests/Support/TestSupport"
    ),
    // Another process, for the tests of several processes, and for what may end a process. No product.
    .executableTarget(
        name: "Peer",
        dependencies: [
            "TokenRefresh", "Storage", "AuthInterface", "ConcurrencyPrimitives", "AuthTesting", "ContractTesting",
            "NetworkCore",
            "NetworkURLSession",
            "NetworkTesting", .target(name: "PostgreSQLStorage", condition: .when(traits: ["PostgreSQL"])),
            .target(name: "NetworkAsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"])),
        ],
        path: "Tests/Support/Peer"
    ),
    .testTarget(
        name: "ConcurrencyPrimitivesTests", dependencies: ["ConcurrencyPrimitives", "ContractTesting"],
        path: "Tests/ConcurrencyPrimitivesTests"),
    .testTarget(
        name: "AuthInterfaceTests", dependencies: ["AuthInterface", "ConcurrencyPrimitives"],
        path: "Tests/AuthInterfaceTests"),
    .testTarget(
        name: "TokenRefreshTests",
        dependencies: [
            "TokenRefresh", "AuthInterface", "ConcurrencyPrimitives", "AuthTesting", "ContractTesting", "Storage",
            "TestSupport",
            "Peer",
        ],
        path: "Tests/TokenRefreshTests"
    ),
    .testTarget(
        name: "NetworkCoreTests",
        dependencies: [
            "NetworkCore", "NetworkRecording", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives",
            "ContractTesting", "NetworkTesting", "NetworkTestSupport", "TestSupport",
        ],
        path: "Tests/NetworkCoreTests"
    ),
    .testTarget(
        name: "NetworkURLSessionTests",
        dependencies: [
            "NetworkURLSession", "NetworkCore", "AuthInterface", "ConcurrencyPrimitives", "ContractTesting",
            "NetworkTesting", "TestSupport",
        ],
        path: "Tests/NetworkURLSessionTests"
    ),
    .testTarget(
        name: "NetworkCachingTests",
        dependencies: [
            "NetworkCaching", "NetworkCore", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives",
            "ContractTesting", "NetworkTesting", "TestSupport",
        ],
        path: "Tests/NetworkCachingTests"
    ),
    .testTarget(
        name: "NetworkTransfersTests",
        dependencies: [
            "NetworkTransfers", "NetworkCore", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives",
            "ContractTesting", "NetworkTesting", "NetworkTestSupport", "TestSupport",
        ],
        path: "Tests/NetworkTransfersTests"
    ),
    .testTarget(
        name: "NetworkRecordingTests",
        dependencies: [
            "NetworkRecording", "NetworkCore", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives",
            "ContractTesting", "NetworkTesting", "NetworkTestSupport", "TestSupport",
        ],
        path: "Tests/NetworkRecordingTests"
    ),
    .testTarget(
        name: "NetworkAsyncHTTPClientTests",
        dependencies: [
            "NetworkAsyncHTTPClient", "NetworkTransfers", "NetworkCore", "NetworkURLSession", "AuthInterface",
            "ConcurrencyPrimitives", "ContractTesting",
            "NetworkTesting", "TestSupport", "Peer",
            .product(
                name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["AsyncHTTPClient"])),
        ],
        path: "Tests/NetworkAsyncHTTPClientTests"
    ),
    // A value to send and to receive, for the tests of NetworkCore and of the modules around it.
    .target(
        name: "NetworkTestSupport", dependencies: ["NetworkCore", "TestSupport"],
        path: "Tests/Support/NetworkTestSupport"
    ),
    // Cases and fixtures for the tests of refresh handlers.
    .target(
        name: "HandlerTesting", dependencies: ["NetworkCore", "NetworkTesting", "ContractTesting"],
        path: "Tests/Support/HandlerTesting"
    ),
    .testTarget(
        name: "DataAPITests",
        dependencies: [
            "DataAPI", "NetworkTransfers", "NetworkCore", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives",
            "AuthTesting", "ContractTesting",
            "NetworkTesting",
            "HandlerTesting",
        ],
        path: "Tests/DataAPITests"
    ),
    .testTarget(
        name: "OAuth2FlowsTests",
        dependencies: [
            "OAuth2Flows", "NetworkCore", "NetworkURLSession", "AuthInterface", "ConcurrencyPrimitives", "AuthTesting",
            "ContractTesting",
            "NetworkTesting",
            "HandlerTesting",
        ],
        path: "Tests/OAuth2FlowsTests"
    ),
    .testTarget(
        name: "StorageTests",
        dependencies: [
            "Storage", "AuthInterface", "ConcurrencyPrimitives", "AuthTesting", "ContractTesting", "TestSupport",
            "Peer",
        ],
        path: "Tests/StorageTests"
    ),
    .testTarget(
        name: "PostgreSQLStorageTests",
        dependencies: [
            "PostgreSQLStorage", "Storage", "TokenRefresh", "AuthInterface", "ConcurrencyPrimitives", "AuthTesting",
            "ContractTesting",
            "TestSupport", "Peer",
        ],
        path: "Tests/PostgreSQLStorageTests"
    ),
    .testTarget(name: "ImagingTests", dependencies: ["Imaging", "TestSupport"], path: "Tests/ImagingTests"),
    .testTarget(
        name: "NetworkCombineTests",
        dependencies: [
            "NetworkCombine", "NetworkCore", "AuthInterface", "TokenRefresh", "NetworkTesting", "AuthTesting",
            "ContractTesting",
            "TestSupport",
        ],
        path: "Tests/NetworkCombineTests"
    ),
    .testTarget(
        name: "ContractTestingTests", dependencies: ["ContractTesting"], path: "Tests/ContractTestingTests"
    ),
    .testTarget(
        name: "AuthTestingTests",
        dependencies: ["AuthTesting", "ContractTesting", "AuthInterface", "ConcurrencyPrimitives"],
        path: "Tests/AuthTestingTests"
    ),
    .testTarget(
        name: "NetworkDoublesTests",
        dependencies: ["NetworkDoubles", "NetworkRecording", "NetworkCore", "ConcurrencyPrimitives"],
        path: "Tests/NetworkDoublesTests"
    ),
    .testTarget(
        name: "NetworkTestingTests",
        dependencies: [
            "NetworkTesting", "NetworkCore", "AuthInterface", "ConcurrencyPrimitives", "TestSupport", "Peer",
        ],
        path: "Tests/NetworkTestingTests"
    ),
    // Architecture, house rules, README. It reads the sources as text, and needs no module.
    .testTarget(
        name: "RepositoryTests",
        dependencies: ["TestSupport"],
        path: "Tests/RepositoryTests",
        exclude: ["Fixtures"]
    ),
]

/// `LATCHKEY_MODULE=NetworkCore swift test` builds that module, its tests and what they need: see
/// `make test-NetworkCore`. Several are separated by commas. Names that are not targets here change nothing:
/// `App/Package.swift` reads the same variable for its own targets.
let targets: [Target] = {
    let all = modules + systemLibraries + tests
    let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    let chosen = (Context.environment["LATCHKEY_MODULE"] ?? "").split(separator: ",")
    var pending = chosen.flatMap { ["\($0)", "\($0)Tests"] }.filter { byName[$0] != nil }
    if pending.isEmpty { return all }
    var needed: Set<String> = []
    while let name = pending.popLast() {
        guard let target = byName[name], needed.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): pending.append(name)
            default: break
            }
        }
    }
    return all.filter { needed.contains($0.name) }
}()

let package = Package(
    name: "Latchkey",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: modules.filter { module in targets.contains { $0.name == module.name } }.map {
        .library(name: $0.name, targets: [$0.name])
    },
    traits: [
        .trait(name: "AsyncHTTPClient", description: "NetworkAsyncHTTPClient: the transport for servers and Linux."),
        .trait(name: "OpenCombine", description: "NetworkCombine on Linux, over OpenCombine."),
        .trait(name: "TurboJPEG", description: "Imaging's codec on Linux, over libturbojpeg and libpng."),
        .trait(name: "Crypto", description: "Sign-in with a browser on Linux: SHA-256 for OAuth2Flows."),
        .trait(name: "PostgreSQL", description: "PostgreSQLStorage: a store for a fleet of hosts, over libpq."),
    ],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Dependencies of async-http-client, named because NetworkAsyncHTTPClient or its tests import them too.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        // SE-0335: a boxed value is written `any`.
        .enableUpcomingFeature("ExistentialAny"),
        // SE-0444: a file sees members only of modules that it imports.
        .enableUpcomingFeature("MemberImportVisibility"),
        // SE-0409: an import is internal unless it is marked `public`.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // SE-0461: a nonisolated async function runs on its caller's actor.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
