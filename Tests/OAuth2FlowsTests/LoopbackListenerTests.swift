#if canImport(CryptoKit) || Crypto
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import OAuth2Flows

@Suite(.timeLimit(.minutes(10))) struct LoopbackListenerTests {
    /// A sign-in with a client on a thread of its own: its calls block.
    private func response(to client: @escaping @Sendable (UInt16) throws -> String) async throws -> (String, String) {
        let listener = try LoopbackListener()
        async let target = listener.firstRequest(within: .seconds(600)) { $0 }
        let response = Turn<String>()
        Thread.detachNewThread { response.end(Swift.Result { try client(listener.port) }) }
        return (try await response.valueUnlessCancelled(), try await target)
    }

    @Test(arguments: ["/callback", ""])
    func `a response ends a sign-in while its browser is open`(path: String) async throws {
        let browser = Gate()
        defer { browser.open() }
        let userAgent = LoopbackUserAgent(path: path) { page in
            let uri = try #require(page.values(of: "redirect_uri").first.flatMap { URL(string: $0) })
            let connection = try ClientConnection(port: UInt16(try #require(uri.port)))
            let target = uri.path.isEmpty ? "/" : uri.path
            connection.write("GET \(target)?code=fixture-code&state=fixture-state HTTP/1.1\r\n\r\n")
            await browser.pass()
            withExtendedLifetime(connection) {}
        }
        let (response, redirectURI) = try await userAgent.response(to: .fixture)
        #expect(response.query == "code=fixture-code&state=fixture-state" && redirectURI.path == path)
    }

    @Test func `the end of the time, and a cancellation, end a sign-in while its browser is open`() async throws {
        let browser = Gate()
        defer { browser.open() }
        let hasty = LoopbackUserAgent(timeout: .milliseconds(1)) { _ in await browser.pass() }
        let error = await signInError { _ = try await hasty.response(to: .fixture) }
        #expect(error?.code == .expired)
        let userAgent = LoopbackUserAgent { _ in await browser.pass() }
        let signIn = Task { _ = try await userAgent.response(to: .fixture) }
        try await browser.arrivals(atLeast: 2)
        await expectCancellation(of: signIn)
    }

    /// How many connections that send nothing come before and after the browser's, and the pieces of its request.
    @Test(arguments: [
        (100, 0, ["GET /callback?code=fixture-code HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"]),
        (40, 16, ["GET /call", "back?code=fixture-code HTTP/1", ".1\r\n\r\n"]),
    ])
    func `a browser is served among idle ones, a slow one too`(before: Int, after: Int, pieces: [String]) async throws {
        let (response, target) = try await response { port in
            let idle = try (0..<before).map { _ in try ClientConnection(port: port) }
            // They are accepted in order, so this one comes when the listener has all that it keeps.
            let browser = try ClientConnection(port: port)
            let later = try (0..<after).map { _ in try ClientConnection(port: port) }
            for piece in pieces { browser.write(piece) }
            return withExtendedLifetime((idle, later)) { browser.readToEnd() }
        }
        #expect(response.hasPrefix("HTTP/1.1 200 OK"))
        #expect(target == "/callback?code=fixture-code")
    }

    @Test func `G35: a callback's page keeps no code in a cache, a referrer, its text or the history`() async throws {
        let (response, _) = try await response { port in
            try ClientConnection(port: port).get("/callback?code=fixture-code&state=fixture-state")
        }
        #expect(!response.contains("fixture"))
        let parts = response.components(separatedBy: "\r\n\r\n")
        let fields = Set(parts[0].components(separatedBy: "\r\n"))
        // A challenge is a SHA-256 too, in the other alphabet and without its padding.
        let hash =
            PKCE(verifier: LoopbackListener.script).challenge
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "="
        #expect(
            fields.isSuperset(of: [
                "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Content-Length: \(parts[1].utf8.count)",
                "Content-Security-Policy: default-src 'none'; script-src 'sha256-\(hash)'",
            ]))
        #expect(LoopbackListener.script == #"history.replaceState(null,"",location.pathname)"#)
        #expect(parts[1].contains("<script>\(LoopbackListener.script)</script>"))
    }

    @Test func `an error without a state is shown, is named when the time ends, and is no response`() async throws {
        let clock = ManualTimeSource()
        let listener = try LoopbackListener(clock: clock)
        let response = Task {
            try await listener.firstRequest(within: .seconds(600)) { target in
                URL(string: target).flatMap(OAuth2SignInPage.refusalWithoutState)
            } accept: { target in
                target.contains("state=fixture-state") ? target : nil
            }
        }
        let read = Turn<[String]>()
        Thread.detachNewThread {
            let pages = Swift.Result {
                try ["error=invalid_request&error_description=x", "error=access_denied&state=other", "a=b"].map {
                    try ClientConnection(port: listener.port).get("/callback?\($0)")
                }
            }
            clock.advance(by: .seconds(600))
            read.end(pages)
        }
        let pages = try await read.valueUnlessCancelled()
        #expect(pages.map { $0.contains("invalid_request") } == [true, false, false])
        #expect(pages.allSatisfy { !$0.contains("access_denied") && $0.hasPrefix("HTTP/1.1 404") })
        let error = await signInError { try await response.value }
        #expect(error?.code == .expired && error?.reason.contains("invalid_request") == true)
    }

    @Test(arguments: [
        ("error=a_b.c-1", "a_b.c-1"), ("error=a&state=", nil), ("error=a&state=b", nil), ("code=a", nil), ("", nil),
        ("error=%3Cscript%3E", "an error"), ("error=", "an error"), ("error=no%20such%20client", "an error"),
    ])
    func `an error without a state is shown, as an identifier`(_ query: String, _ shown: String?) throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/callback?\(query)"))
        #expect(OAuth2SignInPage.refusalWithoutState(in: url) == shown)
    }
}

extension OAuth2SignInPage {
    static let fixture = OAuth2SignInPage(
        endpoint: URL(fileURLWithPath: "/authorize"), clientID: "fixture-client", issuer: "",
        state: "fixture-state", pkce: PKCE(), nonce: nil, thumbprint: nil, request: [:], push: nil)
}

/// A connection to a port of loopback.
final class ClientConnection {
    private let descriptor: Int32

    init(port: UInt16, at address: String = "127.0.0.1") throws {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(address, "\(port)", &hints, &found) == 0)
        let place = try #require(found).pointee
        defer { freeaddrinfo(found) }
        descriptor = socket(place.ai_family, place.ai_socktype, 0)
        try #require(connect(descriptor, place.ai_addr, place.ai_addrlen) == 0)
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        #if os(Linux)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        _ = text.withCString { send(descriptor, $0, text.utf8.count, flags) }
    }

    /// The response to a request of a browser.
    func get(_ target: String) -> String {
        write("GET \(target) HTTP/1.1\r\n\r\n")
        return readToEnd()
    }

    func readToEnd() -> String {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(descriptor, &bytes, bytes.count), count > 0 { text += bytes[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Where the server of a redirect URI listens (RFC 8252 §7.3).
@Suite(.timeLimit(.minutes(10))) struct LoopbackPortTests {
    /// A browser that sends the response to a redirect URI at an address.
    private func userAgent(
        host: String = "127.0.0.1", ports: [UInt16] = [], at address: String = "127.0.0.1"
    ) -> LoopbackUserAgent {
        LoopbackUserAgent(host: host, ports: ports, path: "/cb") { page in
            let uri = try #require(page.values(of: "redirect_uri").first.flatMap { URL(string: $0) })
            let browser = try ClientConnection(port: UInt16(try #require(uri.port)), at: address)
            #expect(browser.get("/cb?code=fixture-code&state=fixture-state").hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func `the first port that is free is used, and the redirect URI names it`() async throws {
        let taken = try LoopbackSocket("127.0.0.1", at: 0, backlog: 1)
        let (_, redirectURI) = try await userAgent(ports: [taken.port, 0]).response(to: .fixture)
        #expect(redirectURI.port != nil && redirectURI.port != Int(taken.port) && redirectURI.host == "127.0.0.1")
    }

    /// Why no page is shown.
    private func refusal(host: String, ports: [UInt16] = []) async -> String {
        let userAgent = LoopbackUserAgent(host: host, ports: ports) { _ in Issue.record("shown") }
        let error = await signInError { try await userAgent.response(to: .fixture) }
        #expect(error?.code == .userAgentFailed)
        return error?.reason ?? ""
    }

    @Test func `a port is used again at once, although the system remembers its connections`() async throws {
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
        let taken = try (0..<2).map { _ in try LoopbackSocket(address, at: 0, backlog: 1) }
        let reason = await refusal(host: "localhost", ports: taken.map(\.port))
        for socket in taken { #expect(reason.contains("\(socket.port)"), "the error names the ports") }
    }

    @Test(arguments: ["example.com", "0.0.0.0", "", "::1"])
    func `a host that is not loopback is refused`(_ host: String) async throws {
        #expect(await refusal(host: host).contains("localhost"))
    }
}
#endif
