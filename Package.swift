// swift-tools-version: 6.2
import PackageDescription

// Latchkey ships libraries only, and nothing from outside: every dependency below belongs to a trait that is off by
// default, so `swift package show-dependencies` prints "No external dependencies found".

/// The modules in dependency order: each names all it may import. `Tests/ArchitectureTests` holds the code against
/// the same picture, so an arrow that turns back fails twice.
let modules: [Target] = [
    // The words and the seams. Must depend on nothing of ours, for ever: everyone depends on it.
    .target(name: "AuthInterface", path: "Modules/AuthInterface"),

    .target(name: "TokenRefresh", dependencies: ["AuthInterface"], path: "Modules/TokenRefresh"),
    .target(name: "NetworkCore", dependencies: ["AuthInterface"], path: "Modules/NetworkCore"),
    .target(name: "DataAPI", dependencies: ["NetworkCore", "AuthInterface"], path: "Modules/DataAPI"),
    .target(name: "Storage", dependencies: ["AuthInterface"], path: "Modules/Storage"),
    // Empty without its trait: no phone compiles it.
    .target(
        name: "PostgreSQLStorage",
        dependencies: [
            "Storage", "AuthInterface",
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
            "NetworkCore",
            .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
        ],
        path: "Modules/NetworkCombine"
    ),
    .target(name: "AuthTesting", dependencies: ["AuthInterface"], path: "Modules/AuthTesting"),
    .target(name: "NetworkTesting", dependencies: ["NetworkCore"], path: "Modules/NetworkTesting"),
]

/// Headers of C libraries the system provides. Needed only while their trait is on.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CTurboJPEG",
        path: "Modules/CTurboJPEG",
        pkgConfig: "libturbojpeg",
        providers: [.apt(["libturbojpeg0-dev"])]
    ),
    .systemLibrary(name: "CPNG", path: "Modules/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(
        name: "CPostgreSQL",
        path: "Modules/CPostgreSQL",
        pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"])]
    ),
]

/// One folder a module, mirrored. A test target sees its module, the doubles, and nothing else.
let tests: [Target] = [
    // Other processes, for the tests that need them.
    .target(name: "ProcessTesting", dependencies: ["AuthInterface", "AuthTesting"], path: "Tests/ProcessTesting"),
    .testTarget(name: "AuthInterfaceTests", dependencies: ["AuthInterface"], path: "Tests/AuthInterfaceTests"),
    // A process for the tests of several processes over one store; no product.
    .executableTarget(
        name: "RefreshPeer",
        dependencies: ["TokenRefresh", "AuthInterface", "Storage"],
        path: "Tests/RefreshPeer"
    ),
    .testTarget(
        name: "TokenRefreshTests",
        dependencies: ["TokenRefresh", "AuthInterface", "AuthTesting", "Storage", "ProcessTesting", "RefreshPeer"],
        path: "Tests/TokenRefreshTests"
    ),
    .testTarget(
        name: "NetworkCoreTests",
        dependencies: ["NetworkCore", "AuthInterface", "AuthTesting", "NetworkTesting"],
        path: "Tests/NetworkCoreTests"
    ),
    .testTarget(
        name: "DataAPITests",
        dependencies: ["DataAPI", "NetworkCore", "AuthInterface", "AuthTesting", "NetworkTesting"],
        path: "Tests/DataAPITests"
    ),
    // A process that saves and takes leases until the storage tests kill it.
    .executableTarget(
        name: "StorageTorture",
        dependencies: ["Storage", "AuthInterface", "AuthTesting"],
        path: "Tests/StorageTorture"
    ),
    .testTarget(
        name: "StorageTests",
        dependencies: ["Storage", "AuthInterface", "AuthTesting", "ProcessTesting", "StorageTorture"],
        path: "Tests/StorageTests"
    ),
    // A process of a fleet that shares one session in a database. Of use under the trait PostgreSQL only.
    .executableTarget(
        name: "FleetPeer",
        dependencies: ["PostgreSQLStorage", "Storage", "TokenRefresh", "AuthInterface"],
        path: "Tests/FleetPeer"
    ),
    // A process that refreshes the sessions of many accounts in a database, without the engine.
    .executableTarget(
        name: "AccountsPeer",
        dependencies: ["PostgreSQLStorage", "Storage", "AuthInterface"],
        path: "Tests/AccountsPeer"
    ),
    .testTarget(
        name: "PostgreSQLStorageTests",
        dependencies: [
            "PostgreSQLStorage", "Storage", "AuthInterface", "AuthTesting", "ProcessTesting", "AccountsPeer",
            "FleetPeer",
        ],
        path: "Tests/PostgreSQLStorageTests"
    ),
    .testTarget(name: "ImagingTests", dependencies: ["Imaging"], path: "Tests/ImagingTests"),
    .testTarget(
        name: "NetworkCombineTests",
        dependencies: [
            "NetworkCombine", "NetworkCore", "NetworkTesting", "AuthTesting",
            .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
        ],
        path: "Tests/NetworkCombineTests"
    ),
    .testTarget(
        name: "AuthTestingTests",
        dependencies: ["AuthTesting", "AuthInterface"],
        path: "Tests/AuthTestingTests"
    ),
    .testTarget(
        name: "NetworkTestingTests",
        dependencies: ["NetworkTesting", "NetworkCore", "AuthInterface"],
        path: "Tests/NetworkTestingTests"
    ),
    .testTarget(
        name: "ReadmeTests",
        dependencies: ["AuthInterface", "TokenRefresh", "NetworkCore", "DataAPI", "Storage"],
        path: "Tests/ReadmeTests"
    ),
    .testTarget(
        name: "ArchitectureTests",
        dependencies: ["ProcessTesting"],
        path: "Tests/ArchitectureTests",
        exclude: ["Fixtures"]
    ),
]

/// `LATCHKEY_MODULE=NetworkCore swift test` builds one module, its tests and what they need, and nothing else. Several
/// modules are separated by commas.
let targets: [Target] = {
    let all = modules + systemLibraries + tests
    guard let chosen = Context.environment["LATCHKEY_MODULE"] else { return all }
    let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    var needed: Set<String> = []
    var open = chosen.split(separator: ",").flatMap { [String($0), $0 + "Tests"] }
    while let name = open.popLast() {
        guard let target = byName[name], needed.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): open.append(name)
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
        .trait(name: "OpenCombine", description: "NetworkCombine where Combine is absent, over OpenCombine."),
        .trait(name: "TurboJPEG", description: "Imaging's codec on Linux, over libturbojpeg and libpng."),
        .trait(name: "PostgreSQL", description: "PostgreSQLStorage: a store for a fleet of hosts, over libpq."),
    ],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        // SE-0335: `any` is written where a value is boxed.
        .enableUpcomingFeature("ExistentialAny"),
        // SE-0444: a file sees the members of the modules it imports itself.
        .enableUpcomingFeature("MemberImportVisibility"),
        // SE-0409: an import is internal unless it says `public`.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // SE-0461: a nonisolated async function runs where its caller runs.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
