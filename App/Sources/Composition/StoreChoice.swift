import AuthInterface
public import Foundation
import NetworkCore
import Storage

/// Where the session is stored.
public enum StoreChoice: Sendable, Hashable {
    /// In a file of this user, in a folder; `nil` is the system's usual one.
    case file(folder: URL?)

    /// In memory, for the lifetime of the process.
    case memory

    /// Creates the store of one server's session.
    ///
    /// Each server has an account of its own in the folder, so a change of `--base-url` never sends the tokens of one
    /// server to another.
    func makeStore(for baseURL: URL) -> any TokenStore {
        let account = Self.account(for: baseURL)
        switch self {
        case .file(let folder?): return FileTokenStore(folder: folder, account: account)
        case .file(nil): return FileTokenStore(application: AppConfiguration.applicationName, account: account)
        case .memory: return MemoryTokenStore()
        }
    }

    /// The location of one server's session, for people.
    ///
    /// - Parameter baseURL: The base URL of the server's API.
    /// - Returns: The path of a file, or `memory`.
    public func location(for baseURL: URL) -> String {
        (makeStore(for: baseURL) as? FileTokenStore)?.file.path ?? "memory"
    }

    /// The account of a server: its origin, and the path of its API.
    private static func account(for baseURL: URL) -> String {
        let origin = Origin(baseURL)?.description ?? baseURL.absoluteString
        let path = baseURL.path.split(separator: "/").joined(separator: "/")
        return path.isEmpty ? origin : "\(origin)/\(path)"
    }
}
