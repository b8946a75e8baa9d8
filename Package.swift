// swift-tools-version: 6.2
import PackageDescription

// Latchkey ships libraries only. Every package below belongs to a trait that is off by default, so
// `swift package show-dependencies` prints "No external dependencies found".

/// A module with what it imports: targets of ours, and what a trait adds.
func module(_ name: String, _ dependencies: [Target.Dependency], trait: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies + trait, path: "Modules/\(name)")
}

/// The product of a package that a trait adds.
func product(_ name: String, _ package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// The modules, in dependency order. A list of dependencies is complete: the module imports these and no others.
/// `Tests/RepositoryTests` compares each list with `AllowTable.swift`, and every import with both.
let modules: [Target] = [
    // Locks, clocks, backoff. A leaf: it must never depend on another module.
    module("ConcurrencyPrimitives", []),

    // Token values, and the protocols to implement. Only ConcurrencyPrimitives may be added: all others depend on it.
    module("AuthInterface", ["ConcurrencyPrimitives"]),

    module("TokenRefresh", ["AuthInterface", "ConcurrencyPrimitives"]),
    // Conversions from and to swift-http-types, where the trait is on.
    module(
        "NetworkCore", ["AuthInterface", "ConcurrencyPrimitives"],
        trait: [product("HTTPTypes", "swift-http-types", trait: "HTTPTypes")]),
    // What the transports share.
    module("NetworkExchange", ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"]),
    module("NetworkURLSession", ["NetworkExchange", "NetworkCore", "ConcurrencyPrimitives"]),
    module("NetworkCaching", ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"]),
    module("NetworkTransfers", ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"]),
    module("NetworkRecording", ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"]),
    // Empty unless the trait is on.
    module(
        "NetworkAsyncHTTPClient", ["NetworkExchange", "NetworkCore", "AuthInterface", "ConcurrencyPrimitives"],
        trait: [
            product("AsyncHTTPClient", "async-http-client", trait: "AsyncHTTPClient"),
            product("NIOCore", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOPosix", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOHTTP1", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOHTTP2", "swift-nio-http2", trait: "AsyncHTTPClient"),
            product("NIOHPACK", "swift-nio-http2", trait: "AsyncHTTPClient"),
            product("NIOSSL", "swift-nio-ssl", trait: "AsyncHTTPClient"),
            product("NIOHTTPCompression", "swift-nio-extras", trait: "AsyncHTTPClient"),
            product("Crypto", "swift-crypto", trait: "AsyncHTTPClient"),
        ]),
    module("DataAPI", ["NetworkCore", "NetworkTransfers", "AuthInterface", "ConcurrencyPrimitives"]),
    module(
        "OAuth2Flows", ["NetworkCore", "AuthInterface", "ConcurrencyPrimitives"],
        trait: [
            .product(
                name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux], traits: ["Crypto"])),
            .product(
                name: "_CryptoExtras", package: "swift-crypto",
                condition: .when(platforms: [.linux], traits: ["Crypto"])),
        ]),
    // Keys of sessions, where the trait is on.
    module(
        "Storage", ["AuthInterface", "ConcurrencyPrimitives"],
        trait: [
            .product(
                name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux], traits: ["Crypto"]))
        ]),
    // Empty unless the trait is on.
    module(
        "PostgreSQLStorage", ["Storage", "AuthInterface", "ConcurrencyPrimitives"],
        trait: [.target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    module(
        "Imaging", [],
        trait: [
            .target(name: "CTurboJPEG", condition: .when(platforms: [.linux], traits: ["TurboJPEG"])),
            .target(name: "CPNG", condition: .when(platforms: [.linux], traits: ["TurboJPEG"])),
        ]),
    module(
        "NetworkCombine", ["NetworkCore", "AuthInterface"],
        trait: [product("OpenCombine", "OpenCombine", trait: "OpenCombine")]),
    // Test kits. All but NetworkTesting are for any test framework, and must never import one.
    module("ContractTesting", ["ConcurrencyPrimitives"]),
    module("AuthTesting", ["AuthInterface", "ContractTesting", "ConcurrencyPrimitives"]),
    module("NetworkDoubles", ["NetworkCore", "ConcurrencyPrimitives"]),
    module(
        "NetworkTesting",
        ["NetworkDoubles", "NetworkCore", "AuthInterface", "ContractTesting", "ConcurrencyPrimitives"]),
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

/// The tests of a module: it, what it is built on, and the kits that they use.
func tests(of module: String, _ dependencies: [Target.Dependency], trait: [Target.Dependency] = []) -> Target {
    // `networkKits` has these two.
    let isKit = ["NetworkCore", "NetworkURLSession"].contains(module)
    return .testTarget(
        name: "\(module)Tests", dependencies: (isKit ? [] : [.init(stringLiteral: module)]) + dependencies + trait,
        path: "Tests/\(module)Tests")
}

/// What the tests of a module share with its neighbours'.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Support/\(name)")
}

let interfaces: [Target.Dependency] = ["AuthInterface", "ConcurrencyPrimitives"]
let authKits: [Target.Dependency] = interfaces + ["AuthTesting", "ContractTesting"]
let networkKits: [Target.Dependency] =
    interfaces + [
        "NetworkCore", "NetworkURLSession", "ContractTesting", "NetworkTesting", "NetworkTestSupport", "TestSupport",
    ]

/// One test target for each module, and the programs that tests start as separate processes.
let tests: [Target] = [
    // Other processes, folders for files, inputs for parsers, waiting.
    support("TestSupport", interfaces),
    // A value to send and to receive.
    support("NetworkTestSupport", ["NetworkCore", "ContractTesting", "ConcurrencyPrimitives", "TestSupport"]),
    // Cases and fixtures for the tests of refresh handlers.
    support("HandlerTesting", ["AuthInterface", "NetworkCore", "NetworkTesting", "ContractTesting"]),
    // Another process, for the tests of several processes, and for what may end a process. No product.
    .executableTarget(
        name: "Peer",
        dependencies: authKits + [
            "TokenRefresh", "Storage", "NetworkCore", "NetworkURLSession", "NetworkTesting",
            .target(name: "PostgreSQLStorage", condition: .when(traits: ["PostgreSQL"])),
            .target(name: "NetworkAsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"])),
        ],
        path: "Tests/Support/Peer"
    ),
    tests(of: "ConcurrencyPrimitives", ["ContractTesting", "TestSupport"]),
    tests(of: "AuthInterface", ["ConcurrencyPrimitives"]),
    tests(of: "TokenRefresh", authKits + ["Storage", "TestSupport"]),
    tests(
        of: "NetworkCore", networkKits + ["NetworkRecording"],
        trait: [product("HTTPTypes", "swift-http-types", trait: "HTTPTypes")]),
    tests(of: "NetworkExchange", networkKits),
    tests(of: "NetworkURLSession", networkKits),
    tests(of: "NetworkCaching", networkKits),
    tests(of: "NetworkTransfers", networkKits),
    tests(of: "NetworkRecording", networkKits),
    tests(
        of: "NetworkAsyncHTTPClient", networkKits + ["NetworkExchange", "NetworkTransfers", "Peer"],
        trait: [
            product("AsyncHTTPClient", "async-http-client", trait: "AsyncHTTPClient"),
            product("NIOCore", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOEmbedded", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOPosix", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOHTTP1", "swift-nio", trait: "AsyncHTTPClient"),
            product("NIOHTTP2", "swift-nio-http2", trait: "AsyncHTTPClient"),
            product("NIOSSL", "swift-nio-ssl", trait: "AsyncHTTPClient"),
            product("Crypto", "swift-crypto", trait: "AsyncHTTPClient"),
        ]),
    tests(of: "DataAPI", networkKits + ["NetworkTransfers", "AuthTesting", "HandlerTesting"]),
    tests(
        of: "OAuth2Flows", networkKits + ["AuthTesting", "HandlerTesting", "Storage", "TokenRefresh"],
        trait: [
            product("Crypto", "swift-crypto", trait: "Crypto"),
            product("_CryptoExtras", "swift-crypto", trait: "Crypto"),
        ]),
    tests(
        of: "Storage", authKits + ["TestSupport", "Peer"], trait: [product("Crypto", "swift-crypto", trait: "Crypto")]),
    tests(of: "PostgreSQLStorage", authKits + ["Storage", "TokenRefresh", "TestSupport", "Peer"]),
    tests(of: "Imaging", ["ConcurrencyPrimitives"]),
    tests(of: "NetworkCombine", authKits + ["NetworkCore", "TokenRefresh", "NetworkTesting", "TestSupport"]),
    tests(of: "ContractTesting", []),
    tests(of: "AuthTesting", interfaces + ["ContractTesting", "TokenRefresh", "TestSupport"]),
    tests(of: "NetworkDoubles", ["NetworkCore", "ConcurrencyPrimitives"]),
    tests(of: "NetworkTesting", interfaces + ["NetworkCore", "TestSupport", "Peer"]),
    // The samples of the articles, which `RepositoryTests` compares with their text.
    .testTarget(
        name: "DocumentationTests",
        dependencies: modules.filter { $0.name != "NetworkCombine" }.map { .init(stringLiteral: $0.name) },
        path: "Tests/DocumentationTests"),
    // Architecture, house rules, README. It reads the sources as text, and needs no module.
    .testTarget(
        name: "RepositoryTests",
        dependencies: ["TestSupport"],
        path: "Tests/RepositoryTests",
        exclude: ["Budget.txt", "Fixtures"]
    ),
]

/// The guide, so that a package index makes its pages. It has no code, and is no product.
let guide: [Target] = [.target(name: "Latchkey", path: "Documentation")]

/// `LATCHKEY_MODULE=NetworkCore swift test` builds that module, its tests and what they need: see
/// `make test-NetworkCore`. Several are separated by commas. Names that are not targets here change nothing:
/// `App/Package.swift` reads the same variable for its own targets.
let targets: [Target] = {
    let all = modules + guide + systemLibraries + tests
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

let traits: Set<Trait> = [
    .trait(name: "AsyncHTTPClient", description: "NetworkAsyncHTTPClient: the transport for servers and Linux."),
    .trait(name: "OpenCombine", description: "NetworkCombine on Linux, over OpenCombine."),
    .trait(name: "TurboJPEG", description: "Imaging's codec on Linux, over libturbojpeg and libpng."),
    .trait(name: "Crypto", description: "Sign-in with a browser and keys of sessions (DPoP) on Linux."),
    .trait(name: "HTTPTypes", description: "NetworkCore: conversions from and to swift-http-types."),
    .trait(name: "PostgreSQL", description: "PostgreSQLStorage: a store for a fleet of hosts, over libpq."),
]

/// For the Makefile, on Linux. The tests of the modules and the packages that depend on this one have the same traits
/// then, in the same order, which those of a command have not: a module is compiled once for all of them.
let allByDefault: Trait = .default(enabledTraits: Set(traits.map(\.name)))

/// The packages of the traits, by name.
let packages: [String: Package.Dependency] = [
    "OpenCombine": .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    "async-http-client": .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    // Dependencies of async-http-client, named because NetworkAsyncHTTPClient or its tests import them too.
    "swift-nio": .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    "swift-nio-ssl": .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    "swift-nio-extras": .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    "swift-nio-http2": .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    "swift-crypto": .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    "swift-http-types": .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
]

/// Those that the targets name. Another one would be fetched, although its trait is off.
let used = Set(
    targets.flatMap(\.dependencies).compactMap { dependency in
        if case .productItem(_, let package, _, _) = dependency { package } else { nil }
    })

let package = Package(
    name: "Latchkey",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: modules.filter { module in targets.contains { $0.name == module.name } }.map {
        .library(name: $0.name, targets: [$0.name])
    },
    traits: traits.union(Context.environment["LATCHKEY_ALL_TRAITS"] == nil ? [] : [allByDefault]),
    dependencies: used.sorted().compactMap { packages[$0] },
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
