// swift-tools-version: 6.2
import PackageDescription

// The application, in a package of its own because it has dependencies: the libraries of the root package have none.
// Each dependency starts at the version that was tested.

/// Reads multipart/form-data, for both servers.
let multipartForms: Target = .target(name: "MultipartForms")

/// The server that the demo and the end-to-end tests run against. A library, so that a test can start it on port 0.
let devBackend: Target = .target(
    name: "DevBackend",
    dependencies: [
        "MultipartForms",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
    ],
    resources: [.embedInCode("Contract/openapi.json")]
)

/// The object graph: the only target of the program that depends on the engine, the stores and the transports.
let composition: Target = .target(
    name: "Composition",
    dependencies: [
        .product(name: "AuthInterface", package: "Latchkey"),
        .product(name: "TokenRefresh", package: "Latchkey"),
        .product(name: "NetworkCore", package: "Latchkey"),
        .product(name: "NetworkCaching", package: "Latchkey"),
        .product(name: "NetworkURLSession", package: "Latchkey"),
        .product(name: "NetworkAsyncHTTPClient", package: "Latchkey", condition: .when(platforms: [.linux])),
        .product(name: "DataAPI", package: "Latchkey"),
        .product(name: "OAuth2Flows", package: "Latchkey"),
        .product(name: "Storage", package: "Latchkey"),
        .product(name: "Imaging", package: "Latchkey"),
    ]
)

/// The models of the screens, for every platform, and their views, where there is SwiftUI. The models know neither the
/// network nor the stores: what they need comes through protocols.
let articlesUI: Target = .target(
    name: "ArticlesUI",
    dependencies: [
        .product(name: "AuthInterface", package: "Latchkey"),
        .product(name: "DataAPI", package: "Latchkey"),
    ]
)

/// The application for Apple platforms, and the screens' services over the object graph, for every platform.
let articlesApp: Target = .target(
    name: "ArticlesApp",
    dependencies: [
        "ArticlesUI",
        "Composition",
        .product(name: "AuthInterface", package: "Latchkey"),
        .product(name: "NetworkCore", package: "Latchkey"),
        .product(name: "DataAPI", package: "Latchkey"),
        .product(name: "Imaging", package: "Latchkey"),
    ]
)

/// The screens in a browser: pages over the models, for one user on this computer. Like the models, the pages know
/// neither the network nor the stores.
let articlesWeb: Target = .target(
    name: "ArticlesWeb",
    dependencies: [
        "ArticlesUI",
        "MultipartForms",
        .product(name: "DataAPI", package: "Latchkey"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
    ]
)

/// The command line: arguments, output, exit statuses, and the demo.
let articles: Target = .executableTarget(
    name: "articles",
    dependencies: [
        "Composition",
        "DevBackend",
        "ArticlesUI",
        "ArticlesApp",
        "ArticlesWeb",
        .product(name: "AuthInterface", package: "Latchkey"),
        .product(name: "ConcurrencyPrimitives", package: "Latchkey"),
        .product(name: "NetworkCore", package: "Latchkey"),
        .product(name: "NetworkTransfers", package: "Latchkey"),
        .product(name: "NetworkRecording", package: "Latchkey"),
        .product(name: "DataAPI", package: "Latchkey"),
        .product(name: "OAuth2Flows", package: "Latchkey"),
        .product(name: "Imaging", package: "Latchkey"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    ]
)

let tests: [Target] = [
    // Starts programs as processes, and opens connections, for tests from outside.
    .target(
        name: "ProgramTesting",
        dependencies: [
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system", condition: .when(platforms: [.linux])),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        ],
        path: "Tests/ProgramTesting"
    ),
    // The program of `make endurance`.
    .executableTarget(
        name: "Endurance",
        dependencies: [
            "DevBackend",
            "ProgramTesting",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "ConcurrencyPrimitives", package: "Latchkey"),
            .product(name: "TokenRefresh", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkTransfers", package: "Latchkey"),
            .product(name: "NetworkURLSession", package: "Latchkey"),
            .product(name: "NetworkAsyncHTTPClient", package: "Latchkey"),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "OAuth2Flows", package: "Latchkey"),
            .product(name: "Storage", package: "Latchkey"),
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        ],
        path: "Tests/Endurance/Driver"
    ),
    // Run against a provider that is not ours: `make test-provider`. Skipped without it.
    .testTarget(
        name: "ProviderTests",
        dependencies: [
            "ProgramTesting",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "TokenRefresh", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkURLSession", package: "Latchkey"),
            .product(name: "OAuth2Flows", package: "Latchkey"),
            .product(name: "Storage", package: "Latchkey"),
        ]
    ),
    .testTarget(
        name: "ScenarioTests",
        dependencies: [
            "DevBackend",
            // Run as processes.
            "articles",
            "Endurance",
            "ProgramTesting",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "ConcurrencyPrimitives", package: "Latchkey"),
            .product(name: "AuthTesting", package: "Latchkey"),
            .product(name: "ContractTesting", package: "Latchkey"),
            .product(name: "TokenRefresh", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkTransfers", package: "Latchkey"),
            .product(name: "NetworkCaching", package: "Latchkey"),
            .product(name: "NetworkURLSession", package: "Latchkey"),
            .product(name: "NetworkAsyncHTTPClient", package: "Latchkey", condition: .when(platforms: [.linux])),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "OAuth2Flows", package: "Latchkey"),
            .product(name: "Storage", package: "Latchkey"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
        ]
    ),
    .testTarget(
        name: "CompositionTests",
        dependencies: [
            "Composition",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "TokenRefresh", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkCaching", package: "Latchkey"),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "OAuth2Flows", package: "Latchkey"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        ]
    ),
    .testTarget(
        name: "ArticlesUITests",
        dependencies: [
            "ArticlesUI",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "AuthTesting", package: "Latchkey"),
            .product(name: "DataAPI", package: "Latchkey"),
        ]
    ),
    .testTarget(
        name: "ArticlesAppTests",
        dependencies: [
            "ArticlesApp",
            "ArticlesUI",
            "Composition",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "Imaging", package: "Latchkey"),
            .product(name: "NetworkTesting", package: "Latchkey"),
        ]
    ),
    .testTarget(
        name: "ArticlesWebTests",
        dependencies: [
            "ArticlesWeb",
            "ArticlesUI",
            "ArticlesApp",
            "Composition",
            "DevBackend",
            // Run as a process.
            "articles",
            "ProgramTesting",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "NetworkCaching", package: "Latchkey"),
            .product(name: "Imaging", package: "Latchkey"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        ]
    ),
    // The first sample of the README, with the URL of the server as its argument.
    .executableTarget(
        name: "FirstSample",
        dependencies: [
            .product(name: "TokenRefresh", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkAsyncHTTPClient", package: "Latchkey", condition: .when(platforms: [.linux])),
            .product(name: "DataAPI", package: "Latchkey"),
            .product(name: "Storage", package: "Latchkey"),
        ],
        path: "Tests/FirstSample"
    ),
    .testTarget(
        name: "ArticlesTests",
        dependencies: [
            "articles",
            "FirstSample",
            "ProgramTesting",
            "ArticlesWeb",
            "Composition",
            "DevBackend",
            .product(name: "AuthInterface", package: "Latchkey"),
            .product(name: "NetworkCore", package: "Latchkey"),
            .product(name: "NetworkRecording", package: "Latchkey"),
            .product(name: "Storage", package: "Latchkey"),
            .product(name: "Imaging", package: "Latchkey"),
        ]
    ),
    // A server in a process of its own, for the tests that kill it.
    .executableTarget(name: "BackendProcess", dependencies: ["DevBackend"], path: "Tests/BackendProcess"),
    .testTarget(name: "MultipartFormsTests", dependencies: ["MultipartForms"]),
    .testTarget(
        name: "DevBackendTests",
        dependencies: [
            "DevBackend",
            "BackendProcess",
            "ProgramTesting",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "Logging", package: "swift-log"),
        ]
    ),
]

/// `LATCHKEY_MODULE=DevBackend swift test --package-path App` builds that target, its tests and what they need. A name
/// that is not a target here changes nothing: the manifest of the root package reads the same variable.
let targets: [Target] = {
    let all = [multipartForms, devBackend, composition, articlesUI, articlesApp, articlesWeb, articles] + tests
    let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    let module = Context.environment["LATCHKEY_MODULE"] ?? ""
    var pending = [module, module + "Tests"].filter { byName[$0] != nil }
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

/// Whether a target that is built uses the root package.
let usesRoot = targets.contains { target in
    target.dependencies.contains { dependency in
        if case .productItem(_, package: "Latchkey", _, _) = dependency { true } else { false }
    }
}

/// The transport, Imaging's codec and the SHA-256 of OAuth2Flows need a trait on Linux; Apple platforms have all three.
#if os(Linux)
let traits: Set<Package.Dependency.Trait> = ["AsyncHTTPClient", "TurboJPEG", "Crypto"]
#else
let traits: Set<Package.Dependency.Trait> = []
#endif

let package = Package(
    name: "LatchkeyApp",
    // Hummingbird's minimum, and Observation's. The libraries of the root package support older systems.
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "DevBackend", targets: ["DevBackend"]),
        .library(name: "ArticlesUI", targets: ["ArticlesUI"]),
        .library(name: "ArticlesApp", targets: ["ArticlesApp"]),
        .library(name: "ArticlesWeb", targets: ["ArticlesWeb"]),
        .executable(name: "articles", targets: ["articles"]),
    ].filter { product in targets.contains { $0.name == product.name } },
    dependencies: (usesRoot ? [.package(name: "Latchkey", path: "..", traits: traits)] : []) + [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // Dependencies of those above, named because this package imports them too.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

// One policy for every target, tests included. The sample of the README is compiled as a new app compiles it.
for target in package.targets where target.name != "FirstSample" {
    target.swiftSettings = [
        // SE-0443: warnings are errors.
        .treatAllWarnings(as: .error),
        // SE-0335: `any` is written where a value is boxed.
        .enableUpcomingFeature("ExistentialAny"),
        // SE-0409: an import is internal unless it says `public`.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // SE-0444: a file sees the members of the modules it imports itself.
        .enableUpcomingFeature("MemberImportVisibility"),
        // SE-0461: a nonisolated async function runs where its caller runs.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
