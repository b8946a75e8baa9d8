#if canImport(CryptoKit) || Crypto
import Foundation
import Testing

@testable import OAuth2Flows

/// Where the server of a redirect URI listens (RFC 8252 §7.3).
@Suite(.timeLimit(.minutes(10))) struct LoopbackPortTests {
    /// A browser that sends the response to a redirect URI at an address.
    private func userAgent(
        host: String = "127.0.0.1", ports: [UInt16] = [], at address: String = "127.0.0.1"
    ) -> LoopbackUserAgent {
        LoopbackUserAgent(host: host, ports: ports, path: "/cb") { page in
            let uri = try #require(page.values(of: "redirect_uri").first.flatMap { URL(string: $0) })
            let browser = try ClientConnection(port: UInt16(try #require(uri.port)), at: address)
            browser.write("GET /cb?code=fixture-code&state=fixture-state HTTP/1.1\r\n\r\n")
            #expect(browser.readToEnd().hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func `the first port that is free is used, and the redirect URI names it`() async throws {
        let taken = try LoopbackSocket("127.0.0.1", at: 0, backlog: 1)
        let (_, redirectURI) = try await userAgent(ports: [taken.port, 0]).response(to: .fixture)
        #expect(redirectURI.port != nil && redirectURI.port != Int(taken.port) && redirectURI.host == "127.0.0.1")
    }

    /// Why no page is shown.
    private func refusal(host: String = "127.0.0.1", ports: [UInt16] = []) async -> String {
        let userAgent = LoopbackUserAgent(host: host, ports: ports) { _ in Issue.record("shown") }
        let error = await signInError { try await userAgent.response(to: .fixture) }
        #expect(error?.code == .userAgentFailed)
        return error?.reason ?? ""
    }

    @Test func `where all ports are taken, the error names them and no page is shown`() async throws {
        let taken = try (0..<2).map { _ in try LoopbackSocket("127.0.0.1", at: 0, backlog: 1) }
        let reason = await refusal(ports: taken.map(\.port))
        for socket in taken { #expect(reason.contains("\(socket.port)")) }
    }

    @Test func `a port is used again at once, although the system remembers the connections of a sign-in`() async throws
    {
        var isReused = false
        // What else runs on this machine may take one of the ports meanwhile.
        for _ in 0..<20 where !isReused {
            let port = try LoopbackSocket("127.0.0.1", at: 0, backlog: 1).port
            guard let (_, first) = try? await userAgent(ports: [port]).response(to: .fixture) else { continue }
            isReused = (try? await userAgent(ports: [port]).response(to: .fixture))?.1 == first
        }
        #expect(isReused)
    }

    /// Whether this machine has the loopback address of IPv6.
    static let hasIPv6 = (try? LoopbackSocket("::1", at: 0, backlog: 1)) != nil

    @Test(arguments: hasIPv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"])
    func `localhost is served at both addresses`(_ address: String) async throws {
        let (response, redirectURI) = try await userAgent(host: "localhost", at: address).response(to: .fixture)
        #expect(redirectURI.host == "localhost" && redirectURI.path == "/cb")
        #expect(response.absoluteString == "\(redirectURI)?code=fixture-code&state=fixture-state")
    }

    @Test(arguments: hasIPv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"])
    func `a program that has one of the addresses of localhost receives no code`(_ address: String) async throws {
        let other = try LoopbackSocket(address, at: 0, backlog: 1)
        #expect(await refusal(host: "localhost", ports: [other.port]).contains("\(other.port)"))
    }

    @Test(arguments: ["example.com", "0.0.0.0", "", "::1"])
    func `a host that is not loopback is refused`(_ host: String) async throws {
        #expect(await refusal(host: host).contains("localhost"))
    }
}
#endif
