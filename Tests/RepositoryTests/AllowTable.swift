/// Who may import whom: the architecture's picture, as a table.
///
/// ```
///                  ConcurrencyPrimitives
///                      AuthInterface
///           ┌───────────┬──────┴──────┬─────────────┐
///     TokenRefresh   Storage     NetworkCore    AuthTesting         Imaging
///                        │     ┌──────┼───────────┐
///       PostgreSQLStorage   DataAPI  OAuth2Flows  NetworkCombine  NetworkTesting
///
///     Composition sees them all; articles sees Composition, the words and the services.
/// ```
///
/// An arrow that is not here is a design decision: change the picture in the README with it.
enum AllowTable {
    /// What a target may import of ours.
    static let ours: [String: Set<String>] = [
        "ConcurrencyPrimitives": [],
        "AuthInterface": ["ConcurrencyPrimitives"],
        "TokenRefresh": ["ConcurrencyPrimitives", "AuthInterface"],
        "NetworkCore": ["ConcurrencyPrimitives", "AuthInterface"],
        "DataAPI": ["ConcurrencyPrimitives", "NetworkCore", "AuthInterface"],
        "OAuth2Flows": ["ConcurrencyPrimitives", "NetworkCore", "AuthInterface"],
        "Storage": ["ConcurrencyPrimitives", "AuthInterface"],
        "PostgreSQLStorage": ["ConcurrencyPrimitives", "AuthInterface", "Storage", "CPostgreSQL"],
        "Imaging": ["CTurboJPEG", "CPNG"],
        "NetworkCombine": ["ConcurrencyPrimitives", "NetworkCore"],
        "AuthTesting": ["ConcurrencyPrimitives", "AuthInterface"],
        "NetworkTesting": ["ConcurrencyPrimitives", "NetworkCore"],
        "DevBackend": [],
        "Composition": [
            "ConcurrencyPrimitives", "AuthInterface", "TokenRefresh", "NetworkCore", "DataAPI", "OAuth2Flows",
            "Storage",
            "Imaging",
        ],
        "articles": [
            "ConcurrencyPrimitives", "Composition", "AuthInterface", "NetworkCore", "DataAPI", "OAuth2Flows", "Imaging",
            "DevBackend",
        ],
    ]

    /// What a module may import of the system. The outside packages of a trait are here too.
    static let system: [String: Set<String>] = [
        "ConcurrencyPrimitives": ["Foundation"],
        "AuthInterface": ["Foundation"],
        "TokenRefresh": ["Foundation"],
        "NetworkCore": ["Foundation", "FoundationNetworking"],
        "DataAPI": ["Foundation"],
        "OAuth2Flows": ["Foundation"],
        "Storage": ["Foundation", "Dispatch", "Security", "notify", "Darwin", "Glibc", "Musl"],
        "PostgreSQLStorage": ["Foundation", "Dispatch", "Darwin", "Glibc", "Musl"],
        "Imaging": ["Foundation", "CoreGraphics", "ImageIO"],
        "NetworkCombine": ["Foundation", "Combine", "OpenCombine"],
        "AuthTesting": ["Foundation"],
        "NetworkTesting": ["Foundation", "FoundationNetworking", "Testing"],
    ]

    /// Modules that one file, or the files of one folder, may import and no other.
    static let confined: [String: String] = [
        "FoundationNetworking": "NetworkCore/FoundationNetworking.swift",
        "Security": "Storage/Keychain/",
        "notify": "Storage/Keychain/",
        "ImageIO": "Imaging/Codecs/",
        "CPostgreSQL": "PostgreSQLStorage/Connection/",
    ]

    /// What a target of ours may not import: everything of ours that its row does not name.
    static func forbids(_ module: String, in target: String) -> Bool {
        if ours.keys.contains(module) || module.hasPrefix("C") && ours.values.contains(where: { $0.contains(module) }) {
            return ours[target]?.contains(module) != true
        }
        // The app's packages are its own business; what ships has none.
        guard let system = system[target] else { return false }
        return !system.contains(module)
    }
}
