// swift-tools-version: 6.2
import PackageDescription

// The samples of the README and of the articles as three kinds of application compile them: with the default settings,
// with main-actor isolation by default as a new Xcode project has it, and in Swift 5 mode. And the test doubles as
// teams without Swift Testing use them: in tests of XCTest, and in a program that links no test framework.
// `make test-consumers` runs them.

func products(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "Latchkey") }
}

let latchkey = products(
    "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkTransfers", "NetworkURLSession", "NetworkAsyncHTTPClient",
    "DataAPI", "OAuth2Flows", "Storage")
let doubles = products("NetworkDoubles", "AuthTesting")
// What the samples of the articles import beside these.
let rest = products("ConcurrencyPrimitives", "ContractTesting", "Imaging", "NetworkExchange", "PostgreSQLStorage")

/// `make` has all by default: see the root's manifest.
let traits: Set<Package.Dependency.Trait> =
    Context.environment["LATCHKEY_ALL_TRAITS"] == nil ? ["AsyncHTTPClient"] : [.defaults]

let package = Package(
    name: "Consumers",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Latchkey", path: "../..", traits: traits)],
    targets: [
        // Its Samples are a symbolic link to those of DocumentationTests.
        .executableTarget(name: "Plain", dependencies: latchkey + doubles + rest),
        // The next two are symbolic links to Plain. SE-0466.
        .executableTarget(
            name: "MainActorByDefault", dependencies: latchkey + doubles + rest,
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .executableTarget(
            name: "Swift5Mode", dependencies: latchkey + doubles + rest, swiftSettings: [.swiftLanguageMode(.v5)]),
        // Fails if a test framework is linked. Previews use the doubles in this way.
        .executableTarget(name: "WithoutTestFramework", dependencies: latchkey + doubles),
        .testTarget(name: "XCTestTests", dependencies: latchkey + doubles),
        .testTarget(
            name: "PlainTests",
            dependencies: ["Plain"] + latchkey + products("NetworkTesting", "AuthTesting")),
    ]
)
