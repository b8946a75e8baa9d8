package import ContractTesting
package import Foundation

/// A server that redirects every `POST`, and a place where the redirect leads: it issues tokens to any caller.
package final class RedirectingServer: Sendable {
    /// A redirect to a URL of the server itself or of another origin.
    package struct Redirect: Sendable, CustomStringConvertible {
        package let status: Int
        package let leavesOrigin: Bool

        package var description: String { "\(status) \(leavesOrigin ? "to another origin" : "within the origin")" }

        package static let all = [301, 302, 303, 307, 308].flatMap { status in
            [true, false].map { Redirect(status: status, leavesOrigin: $0) }
        }
    }

    private static let place = "/elsewhere"

    private let server: LoopbackServer
    private let other: LoopbackServer

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - redirect: The response to calls.
    ///   - content: The JSON that the place of the redirect responds with, to any method.
    ///   - isRedirected: Which calls are redirected. The others get the JSON too.
    /// - Throws: `POSIXError` when no port is available.
    package init(
        _ redirect: Redirect,
        to content: @escaping @Sendable @autoclosure () -> String,
        where isRedirected: @escaping @Sendable (LoopbackServer.Request) -> Bool = { _ in true }
    ) throws {
        let other = try LoopbackServer { _ in .json(content()) }
        let target = redirect.leavesOrigin ? other.url.appendingPathComponent(Self.place).absoluteString : Self.place
        server = try LoopbackServer { request in
            guard request.target != Self.place, isRedirected(request) else { return .json(content()) }
            return .respond(redirect.status, headers: ["Location": target])
        }
        self.other = other
    }

    deinit {
        server.stop()
        other.stop()
    }

    package var url: URL { server.url }

    /// The calls to the server, in order.
    package var calls: [LoopbackServer.Request] { server.requests.filter { $0.target != Self.place } }

    /// The number of requests that followed the redirect.
    package var followers: Int { other.requests.count + server.requests.count - calls.count }
}
