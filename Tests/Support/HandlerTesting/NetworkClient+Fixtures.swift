package import Foundation
package import NetworkCore

extension NetworkClient {
    /// A client of the API under ``Foundation/URL/api``, with the standard retry policy.
    package init(_ transport: any HTTPTransport) {
        self.init(baseURL: .api, transport: transport, interceptors: [RetryPolicy.standard])
    }
}

extension URL {
    package static var api: URL {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("https", "api.example.com", "/api/v1")
        return parts.url ?? URL(filePath: "/")
    }

    package static var tokenEndpoint: URL { api.appending(path: "oauth2/token") }

    package static var revocationEndpoint: URL { api.appending(path: "oauth2/revoke") }
}
