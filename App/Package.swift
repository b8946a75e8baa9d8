// swift-tools-version: 6.2
import PackageDescription

// The application, in a package of its own because it has dependencies: the libraries of the root package have none.
// Each dependency starts at the version that was tested.

/// The products that the targets use, by package.
let products: [String: Set<String>] = [
    "Latchkey": [
        "ConcurrencyPrimitives", "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkCaching", "NetworkTransfers",
        "NetworkRecording", "NetworkURLSession", "NetworkAsyncHTTPClient", "DataAPI", "OAuth2Flows", "Storage",
        "Imaging", "ContractTesting", "AuthTesting", "NetworkTesting",
    ],
    "hummingbird": ["Hummingbird", "HummingbirdCore"],
    "swift-mustache": ["Mustache"],
    "GRDB.swift": ["GRDB"],
    "swift-argument-parser": ["ArgumentParser"],
    "swift-subprocess": ["Subprocess"],
    "swift-log": ["Logging"],
    "swift-crypto": ["Crypto"],
    "swift-http-types": ["HTTPTypes"],
    "async-http-client": ["AsyncHTTPClient"],
    "swift-nio": ["NIOCore", "NIOPosix", "NIOConcurrencyHelpers", "NIOFoundationCompat", "NIOHTTP1"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
    "swift-system": ["SystemPackage"],
]

/// Apple platforms have URLSession, and the system's own System.
let productsForLinux: Set<String> = ["NetworkAsyncHTTPClient", "SystemPackage"]

/// What a target uses: ``products``, and targets of this package.
func uses(_ names: [String]) -> [Target.Dependency] {
    names.map { name in
        guard let package = products.first(where: { $0.value.contains(name) })?.key else { return .byName(name: name) }
        let condition: TargetDependencyCondition? =
            productsForLinux.contains(name) ? .when(platforms: [.linux]) : nil
        return .product(name: name, package: package, condition: condition)
    }
}

/// Reads multipart/form-data, for both servers.
let multipartForms: Target = .target(name: "MultipartForms")

/// The server that the demo and the end-to-end tests run against. A library, so that a test can start it on port 0.
let devBackend: Target = .target(
    name: "DevBackend",
    dependencies: uses([
        "MultipartForms", "Hummingbird", "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix", "NIOConcurrencyHelpers",
        "NIOFoundationCompat", "ServiceLifecycle", "UnixSignals", "GRDB", "Crypto", "Logging",
    ]),
    resources: [.embedInCode("Contract/openapi.json")]
)

/// The object graph: the only target of the program that depends on the engine, the stores and the transports.
let composition: Target = .target(
    name: "Composition",
    dependencies: uses([
        "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkCaching", "NetworkURLSession", "NetworkAsyncHTTPClient",
        "DataAPI", "OAuth2Flows", "Storage", "Imaging",
    ])
)

/// The models of the screens, for every platform, and their views, where there is SwiftUI. The models know neither the
/// network nor the stores: what they need comes through protocols.
let articlesUI: Target = .target(
    name: "ArticlesUI",
    dependencies: uses(["AuthInterface", "DataAPI"])
)

/// The application for Apple platforms, and the screens' services over the object graph, for every platform.
let articlesApp: Target = .target(
    name: "ArticlesApp",
    dependencies: uses(["ArticlesUI", "Composition", "AuthInterface", "NetworkCore", "DataAPI", "Imaging"])
)

/// The screens in a browser: pages over the models, for one user on this computer. Like the models, the pages know
/// neither the network nor the stores.
let articlesWeb: Target = .target(
    name: "ArticlesWeb",
    dependencies: uses([
        "ArticlesUI", "MultipartForms", "DataAPI", "Hummingbird", "HummingbirdCore", "Mustache", "HTTPTypes", "NIOCore",
        "NIOConcurrencyHelpers", "ServiceLifecycle", "UnixSignals", "Logging",
    ]),
    resources: ["pages.html", "style.css", "script.js", "icon.svg"].map { .embedInCode("Assets/\($0)") }
)

/// The command line: arguments, output, exit statuses, and the demo.
let articles: Target = .executableTarget(
    name: "articles",
    dependencies: uses([
        "Composition", "DevBackend", "ArticlesUI", "ArticlesApp", "ArticlesWeb", "AuthInterface",
        "ConcurrencyPrimitives", "NetworkCore", "NetworkTransfers", "NetworkRecording", "DataAPI", "OAuth2Flows",
        "Imaging", "ArgumentParser", "Crypto", "NIOConcurrencyHelpers", "UnixSignals",
    ]),
    // The page of `--report`.
    resources: ["report.html", "report.css", "report.js"].map { .embedInCode("Report/Assets/\($0)") }
)

let tests: [Target] = [
    // Starts programs as processes, and opens connections, for tests from outside.
    .target(
        name: "ProgramTesting",
        dependencies: uses([
            "ConcurrencyPrimitives", "Subprocess", "SystemPackage", "NIOCore", "NIOPosix", "NIOConcurrencyHelpers",
        ]),
        path: "Tests/ProgramTesting"
    ),
    // The program of `make endurance`.
    .executableTarget(
        name: "Endurance",
        dependencies: uses([
            "DevBackend", "ProgramTesting", "AuthInterface", "ConcurrencyPrimitives", "TokenRefresh", "NetworkCore",
            "NetworkCaching", "NetworkTransfers", "NetworkRecording", "NetworkURLSession", "NetworkAsyncHTTPClient",
            "DataAPI", "OAuth2Flows", "Storage", "ArgumentParser", "NIOConcurrencyHelpers", "UnixSignals",
        ]),
        path: "Tests/Endurance/Driver"
    ),
    // Run against a provider that is not ours: `make test-provider`. Skipped without it. `Endurance` is run as a
    // process.
    .testTarget(
        name: "ProviderTests",
        dependencies: uses([
            "Endurance", "ProgramTesting", "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkURLSession",
            "OAuth2Flows",
            "Storage",
        ])
    ),
    // `articles` and `Endurance` are run as processes.
    .testTarget(
        name: "ScenarioTests",
        dependencies: uses([
            "DevBackend", "articles", "Endurance", "ProgramTesting", "AuthInterface", "ConcurrencyPrimitives",
            "AuthTesting", "ContractTesting", "TokenRefresh", "NetworkCore", "NetworkTransfers", "NetworkURLSession",
            "NetworkAsyncHTTPClient", "DataAPI", "OAuth2Flows", "Storage", "NIOConcurrencyHelpers",
        ])
    ),
    .testTarget(
        name: "CompositionTests",
        dependencies: uses([
            "Composition", "ProgramTesting", "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkCaching",
            "NetworkTesting", "DataAPI", "OAuth2Flows",
        ])
    ),
    .testTarget(
        name: "ArticlesUITests",
        dependencies: uses(["ArticlesUI", "AuthInterface", "DataAPI"])
    ),
    .testTarget(
        name: "ArticlesAppTests",
        dependencies: uses([
            "ArticlesApp", "ArticlesUI", "Composition", "AuthInterface", "NetworkCore", "DataAPI", "Imaging",
            "NetworkTesting",
        ])
    ),
    // `articles` is run as a process.
    .testTarget(
        name: "ArticlesWebTests",
        dependencies: uses([
            "ArticlesWeb", "ArticlesUI", "ArticlesApp", "Composition", "DevBackend", "articles", "ProgramTesting",
            "AuthInterface", "DataAPI", "NetworkCaching", "Imaging", "HummingbirdCore", "HTTPTypes", "NIOCore",
            "NIOConcurrencyHelpers",
        ])
    ),
    .testTarget(
        name: "ArticlesTests",
        dependencies: uses([
            "articles", "ProgramTesting", "ArticlesWeb", "Composition", "DevBackend", "AuthInterface",
            "NetworkCore", "NetworkRecording", "NetworkTransfers", "Storage", "Imaging",
        ])
    ),
    .testTarget(name: "MultipartFormsTests", dependencies: ["MultipartForms"]),
    .testTarget(
        name: "DevBackendTests",
        dependencies: uses([
            "DevBackend", "ProgramTesting", "ContractTesting", "HTTPTypes", "AsyncHTTPClient", "NIOCore",
            "NIOHTTP1",
        ])
    ),
]

/// `LATCHKEY_MODULE=DevBackend swift test --package-path App` builds that target, its tests and what they need. Several
/// are separated by commas. A name that is not a target here changes nothing: the manifest of the root package reads the
/// same variable.
let targets: [Target] = {
    let all = [multipartForms, devBackend, composition, articlesUI, articlesApp, articlesWeb, articles] + tests
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

/// Whether a target that is built uses the root package.
let usesRoot = targets.contains { target in
    target.dependencies.contains { dependency in
        if case .productItem(_, package: "Latchkey", _, _) = dependency { true } else { false }
    }
}

/// The transport, Imaging's codec and the SHA-256 of OAuth2Flows need a trait on Linux; Apple platforms have all three.
/// `make` has all by default: see the root's manifest.
#if os(Linux)
let traits: Set<Package.Dependency.Trait> =
    Context.environment["LATCHKEY_ALL_TRAITS"] == nil ? ["AsyncHTTPClient", "TurboJPEG", "Crypto"] : [.defaults]
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
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

// One policy for every target, tests included.
for target in package.targets {
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
