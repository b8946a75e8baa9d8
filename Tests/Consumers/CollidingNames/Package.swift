// swift-tools-version: 6.2
import PackageDescription

// An application with modules of its own that are called Storage and DataAPI. An alias works only where the package is
// named by its identity, which for a path is the name of the folder: here, of the checkout.
let latchkey = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "")

let package = Package(
    name: "CollidingNames",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "../../..")],
    targets: [
        .target(name: "Storage"),
        .target(name: "DataAPI"),
        .executableTarget(
            name: "App",
            dependencies: [
                "Storage",
                "DataAPI",
                .product(name: "NetworkCore", package: latchkey),
                .product(name: "NetworkURLSession", package: latchkey),
                .product(name: "TokenRefresh", package: latchkey),
                .product(name: "Storage", package: latchkey, moduleAliases: ["Storage": "LatchkeyStorage"]),
                .product(name: "DataAPI", package: latchkey, moduleAliases: ["DataAPI": "LatchkeyDataAPI"]),
            ]
        ),
    ]
)
