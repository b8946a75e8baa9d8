/// Who may import whom: the picture of the README, as a table.
///
/// To add an arrow, add it here, to the manifest's list of dependencies and to the picture.
enum AllowTable {
    /// The targets of ours that a target may import. The manifest lists the same ones.
    static let ours: [String: Set<String>] = [
        "ConcurrencyPrimitives": [],
        "AuthInterface": ["ConcurrencyPrimitives"],
        "TokenRefresh": ["ConcurrencyPrimitives", "AuthInterface"],
        "NetworkCore": ["ConcurrencyPrimitives", "AuthInterface"],
        "NetworkExchange": ["ConcurrencyPrimitives", "AuthInterface", "NetworkCore"],
        "NetworkURLSession": ["ConcurrencyPrimitives", "NetworkCore", "NetworkExchange"],
        "NetworkCaching": ["ConcurrencyPrimitives", "AuthInterface", "NetworkCore"],
        "NetworkTransfers": ["ConcurrencyPrimitives", "AuthInterface", "NetworkCore"],
        "NetworkRecording": ["ConcurrencyPrimitives", "AuthInterface", "NetworkCore"],
        "NetworkAsyncHTTPClient": ["ConcurrencyPrimitives", "AuthInterface", "NetworkCore", "NetworkExchange"],
        "DataAPI": ["ConcurrencyPrimitives", "NetworkCore", "NetworkTransfers", "AuthInterface"],
        "OAuth2Flows": ["ConcurrencyPrimitives", "NetworkCore", "AuthInterface"],
        "Storage": ["ConcurrencyPrimitives", "AuthInterface"],
        "PostgreSQLStorage": ["ConcurrencyPrimitives", "AuthInterface", "Storage", "CPostgreSQL"],
        "Imaging": ["CTurboJPEG", "CPNG"],
        "NetworkCombine": ["NetworkCore", "AuthInterface"],
        "ContractTesting": ["ConcurrencyPrimitives"],
        "AuthTesting": ["ConcurrencyPrimitives", "AuthInterface", "ContractTesting"],
        "NetworkDoubles": ["ConcurrencyPrimitives", "NetworkCore"],
        "NetworkTesting": [
            "ConcurrencyPrimitives", "AuthInterface", "NetworkCore", "ContractTesting", "NetworkDoubles",
        ],
        "MultipartForms": [],
        "DevBackend": ["MultipartForms"],
        "Composition": [
            "AuthInterface", "TokenRefresh", "NetworkCore", "NetworkCaching", "NetworkURLSession",
            "NetworkAsyncHTTPClient", "DataAPI", "OAuth2Flows", "Storage", "Imaging",
        ],
        "ArticlesUI": ["AuthInterface", "DataAPI"],
        "ArticlesApp": ["ArticlesUI", "Composition", "AuthInterface", "NetworkCore", "DataAPI", "Imaging"],
        "ArticlesWeb": ["ArticlesUI", "DataAPI", "MultipartForms"],
        "articles": [
            "ConcurrencyPrimitives", "Composition", "AuthInterface", "NetworkTransfers", "NetworkRecording",
            "NetworkCore", "DataAPI", "OAuth2Flows", "Imaging",
            "DevBackend", "ArticlesUI", "ArticlesApp", "ArticlesWeb",
        ],
    ]

    /// What the tests of every module may use: suites, doubles and servers, other processes, and a transport.
    static let testKits: Set<String> = [
        "ContractTesting", "AuthTesting", "NetworkDoubles", "NetworkTesting", "NetworkURLSession", "TestSupport",
        "NetworkTestSupport", "HandlerTesting", "Peer",
    ]

    /// The neighbours that the tests of a module use beside the test kits.
    static let testedTogether: [String: Set<String>] = [
        "TokenRefresh": ["Storage"],  // files of a later version, and of a journal
        "PostgreSQLStorage": ["TokenRefresh"],  // a fleet of engines over one database
        "NetworkCombine": ["TokenRefresh"],  // a session that ends
        "AuthTesting": ["TokenRefresh"],  // the engine that a stub stands for
        "OAuth2Flows": ["Storage", "TokenRefresh"],  // a session whose tokens are bound to a key
        "NetworkCore": ["NetworkRecording"],  // what an observer sees of a call
        "NetworkAsyncHTTPClient": ["NetworkTransfers"],  // downloads over its connections
    ]

    /// The targets of ours that a target may import; `nil` where only the manifest says it. The tests of a module may
    /// import it, what it is built on, and the test kits.
    static func row(of target: String) -> Set<String>? {
        if let row = ours[target] { return row }
        guard target.hasSuffix("Tests"), case let module = String(target.dropLast(5)), system[module] != nil else {
            return nil
        }
        let below = foundations(of: module).union(["AuthInterface", "ConcurrencyPrimitives", module])
        return below.union(testKits).union(testedTogether[module] ?? [])
    }

    private static func foundations(of module: String) -> Set<String> {
        (ours[module] ?? []).reduce(into: ours[module] ?? []) { $0.formUnion(foundations(of: $1)) }
    }

    /// The system's modules that a module may import, and the package that a trait adds. The targets of the app and
    /// of the tests have no row: they may use any package that the manifest lists.
    static let system: [String: Set<String>] = [
        "ConcurrencyPrimitives": ["Foundation"],
        "AuthInterface": ["Foundation"],
        "TokenRefresh": ["Foundation"],
        "NetworkCore": ["Foundation", "HTTPTypes"],
        "NetworkExchange": ["Foundation"],
        "NetworkURLSession": ["Foundation", "FoundationNetworking", "CryptoKit", "Security", "Dispatch"],
        "NetworkCaching": ["Foundation"],
        "NetworkTransfers": ["Foundation"],
        "NetworkRecording": ["Foundation", "os"],
        "NetworkAsyncHTTPClient": [
            "Foundation", "AsyncHTTPClient", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOHTTP2", "NIOHPACK", "NIOSSL",
            "NIOHTTPCompression", "Crypto",
        ],
        "DataAPI": ["Foundation"],
        "OAuth2Flows": ["Foundation", "CryptoKit", "Crypto", "_CryptoExtras", "Security", "AuthenticationServices"],
        "Storage": ["Foundation", "Dispatch", "Security", "notify", "CryptoKit", "Crypto"],
        "PostgreSQLStorage": ["Foundation", "Dispatch"],
        "Imaging": ["Foundation", "CoreGraphics", "ImageIO"],
        "NetworkCombine": ["Foundation", "Dispatch", "Combine", "OpenCombine"],
        "ContractTesting": ["Foundation"],
        "AuthTesting": ["Foundation"],
        "NetworkDoubles": ["Foundation"],
        "NetworkTesting": ["Foundation", "FoundationNetworking", "Testing"],
    ]

    /// The C libraries of `Modules/SystemLibraries`.
    static let systemLibraries: Set<String> = ["CPNG", "CTurboJPEG", "CPostgreSQL"]

    /// Modules that only some files, or the files of some folders, may import.
    static let confined: [String: [String]] = [
        "FoundationNetworking": ["NetworkURLSession/FoundationNetworking.swift"],
        "Security": ["Storage/Keychain/", "NetworkURLSession/", "OAuth2Flows/IDTokens/"],
        "notify": ["Storage/Keychain/"],
        "os": ["NetworkRecording/LoggingObserver.swift"],
        "ImageIO": ["Imaging/Codecs/"],
        "CPostgreSQL": ["PostgreSQLStorage/Connection/"],
        "HTTPTypes": ["NetworkCore/Messages/HTTPRequestHead+HTTPTypes.swift"],
    ]

    /// What a target of ours imports against the table, and what to do about it.
    static func objection(to module: String, in file: SourceFile) -> String? {
        let target = file.target
        guard let row = row(of: target) else { return nil }
        if ours[module] != nil || testKits.contains(module) || systemLibraries.contains(module) {
            guard !row.contains(module) else { return confinement(of: module, in: file) }
            return "\(target) may import \(listed(row)). Move the code to a module that may import "
                + "\(module), or pass it in through a protocol. \(whereToAdd)"
        }
        guard let system = system[target] else { return nil }
        guard !system.contains(module) else { return confinement(of: module, in: file) }
        return "what ships uses no package, and of the system \(target) may import \(listed(system)). A part of the "
            + "system is added to AllowTable.system, a package never"
    }

    static let whereToAdd = "A new arrow is added to AllowTable, Package.swift and the picture in README.md"

    private static func confinement(of module: String, in file: SourceFile) -> String? {
        guard system[file.target] != nil, let places = confined[module],
            !places.contains(where: { file.path.hasPrefix("Modules/" + $0) })
        else { return nil }
        let allowed = places.map { "Modules/" + $0 }.joined(separator: " and ")
        return "only \(allowed) may import \(module), so that the rest of \(file.target) is the same on every "
            + "platform. Use what is declared there"
    }

    private static func listed(_ modules: Set<String>) -> String {
        modules.isEmpty ? "nothing" : "only " + modules.sorted().joined(separator: ", ")
    }
}
