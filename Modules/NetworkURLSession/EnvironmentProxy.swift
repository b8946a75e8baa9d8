import Foundation
import NetworkCore

/// The proxy that the environment names for a request without encryption. URLSession on Linux follows it, to loopback
/// too, and cannot be told otherwise: the request, its tokens and the response would go there in clear (G16).
struct EnvironmentProxy {
    /// The variables that libcurl reads for `http`, in its order. It does not read `HTTP_PROXY`.
    private static let variables = ["http_proxy", "all_proxy", "ALL_PROXY"]

    private let value: (String) -> String?

    /// `value`: reads a variable; an empty one counts as not set.
    init(_ value: @escaping (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
        self.value = { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The variable whose proxy a request to an origin goes to. `nil`: it goes to the server itself, or is encrypted.
    func variable(for origin: Origin) -> String? {
        guard origin.scheme == "http", let variable = Self.variables.first(where: { value($0) != nil }) else {
            return nil
        }
        let names = value("no_proxy") ?? value("NO_PROXY") ?? ""
        let host = origin.host.trimmingCharacters(in: ["[", "]"])
        let isAddress = host.contains(":") || host.allSatisfy { "0123456789.".contains($0) }
        // As every libcurl reads it: `*` only alone, an address as a whole, nothing from an entry with a blank on.
        let entries = names.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: [" "]) }
        let isExcepted = entries.prefix { !$0.contains(where: \.isWhitespace) }.contains { entry in
            let name = entry.hasPrefix(".") ? entry.dropFirst() : entry[...]
            return isAddress ? host == entry : host == name || host.hasSuffix("." + name)
        }
        return isExcepted || names == "*" ? nil : variable
    }

    /// Refuses what would go to a proxy in clear.
    ///
    /// - Throws: `HTTPTransportError` with code `cleartextRefused`, which names the variable.
    func refuse(_ origin: Origin) throws {
        guard let variable = variable(for: origin) else { return }
        throw HTTPTransportError(
            .cleartextRefused,
            reason: "the environment variable \(variable) names a proxy, to which the request would go in clear; add "
                + "\(origin.host) to no_proxy, or use NetworkAsyncHTTPClient, which follows no such variable")
    }
}
