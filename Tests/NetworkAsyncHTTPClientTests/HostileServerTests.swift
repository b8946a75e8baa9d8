#if AsyncHTTPClient
import Foundation
import NetworkCore
import Testing

@testable import NetworkAsyncHTTPClient

/// G26: servers whose bytes the libraries below do not expect, and end the process for.
@Suite(.timeLimit(.minutes(20))) struct HostileServerTests {
    typealias Frame = FrameScript.Frame

    private static let ok = FrameScript(response: [.status("200"), .data("ok", ends: true)])

    /// The code of the error of a request, if it is one of a transport. `nil`: there is a response.
    @discardableResult
    private static func failure(
        of transport: AsyncHTTPClientTransport, _ server: TLSServer, body: HTTPBody = .none,
        idleTimeout: Duration = .seconds(2)
    ) async -> NetworkError.Code? {
        do {
            let request = server.request(body: body, idleTimeout: idleTimeout)
            _ = try await transport.perform(request).body.collect(upTo: 1_000_000)
            return nil
        } catch {
            #expect(error is HTTPTransportError)
            return (error as? HTTPTransportError)?.code
        }
    }

    @Test(arguments: [
        "99", "42", "0", "-5", "-9223372036854775808", "9223372036854775808", "", "1", "12", "1000", "1xx", "20",
        "+200", "0200", "2000", "abc", "000", "099", "101",
    ])
    func `a status that HTTP/2 does not have is invalidResponse`(_ status: String) async throws {
        let follow: [[Frame]] = [
            [.data("ok", ends: true)], [], [.status("200"), .data("ok", ends: true)], [.status(status, ends: true)],
            [.status("200", ends: true)], [.data("ok"), .head([("x-sum", "1")], ends: true)],
        ]
        for rest in follow {
            for (before, body) in [([], HTTPBody.none), ([Frame.status("103")], HTTPBody(Data(count: 100_000)))] {
                let script = FrameScript(response: before + [.status(status)] + rest)
                try await TLSServer.run([script]) { transport, server in
                    let code = await Self.failure(of: transport, server, body: body, idleTimeout: .seconds(300))
                    #expect(code == .invalidResponse, "\(status)")
                }
            }
        }
    }

    @Test func `a status that HTTP/2 does not have does no harm to the next request`() async throws {
        let damaged = FrameScript(response: [.status("42"), .data("ok", ends: true)])
        try await TLSServer.run([damaged, Self.ok]) { transport, server in
            for _ in 0..<4 { await Self.failure(of: transport, server, idleTimeout: .seconds(300)) }
            // The connection is kept, and the server sends the same again.
            let code = await Self.failure(of: transport, server, idleTimeout: .seconds(300))
            #expect(code == .invalidResponse)
        }
    }

    @Test(arguments: [
        [Frame.settings([]), .goAway()], [.settings([]), .goAway(last: .max)],
        [.settings([]), .settings([]), .goAway(), .goAway()], [.goAway()],
    ])
    func `frames that arrive at once with the first settings do no harm`(_ opening: [Frame]) async throws {
        try await Self.burst(afterOpening: opening)
    }

    /// One request waits for the connection. Several would open one each, of which the first that is ready may serve
    /// them all, and a debug build of AsyncHTTPClient asserts when the limit of a connection without a stream changes.
    @Test(arguments: [
        [Frame.settings([(3, 1)]), .settings([(3, 7)])], [.settings([(3, 1)]), .settings([(3, 0)]), .goAway()],
        [.settings([(3, .max)]), .settings([(3, 1)])],
    ])
    func `a limit of streams that arrives at once with the first one does no harm`(_ opening: [Frame]) async throws {
        try await Self.burst(afterOpening: opening, startsAlone: true)
    }

    /// Sends requests to a server whose first connection has other first frames than the next ones.
    private static func burst(afterOpening opening: [Frame], startsAlone: Bool = false) async throws {
        let first = FrameScript(opening: opening, response: Self.ok.response)
        for _ in 0..<3 {
            try await TLSServer.run([first, Self.ok]) { transport, server in
                if startsAlone { await Self.failure(of: transport, server, idleTimeout: .seconds(300)) }
                await withTaskGroup { group in
                    for _ in 0..<10 { group.addTask { await Self.failure(of: transport, server) } }
                }
                await Self.failure(of: transport, server)
            }
        }
    }

    @Test(arguments: [
        [Frame.data("ok", ends: true)], [.data("ok")], [.head([("x", "y")], ends: true)],
        [.status("200"), .status("200")], [.status("200"), .status("200", ends: true)],
        [.status("103"), .data("ok", ends: true)], [.status("103", ends: true)],
        [.status("204"), .data("ok", ends: true)], [.status("304"), .data("ok", ends: true)],
        [.status("200"), .head([("x", "y")]), .head([("x", "y")], ends: true)],
        [.status("200", ends: true), .status("200", ends: true)],
        [.status("200", ends: true), .data("ok", ends: true)],
        [.head([(":status", "200"), (":status", "200")], ends: true)], [.head([(":status", "200"), (":path", "/")])],
        [.head([(":status", "200"), ("content-length", "-5")]), .data("ok", ends: true)],
        [.head([(":status", "200"), ("content-length", "9223372036854775807"), ("content-encoding", "gzip")])],
        [.head([(":status", "200"), ("content-encoding", "gzip")]), .data("no gzip"), .data("none", ends: true)],
        [.reset(7)], [.status("200"), .reset(8)], [.goAway(last: 0)], [.goAway(last: 0), .status("200", ends: true)],
        [Frame(type: 5, flags: 4, payload: [0, 0, 0, 2, 0x88])], [Frame(type: 9, flags: 4, payload: [0x88])],
        [Frame(type: 8, payload: [0, 0, 0, 0])], [Frame(type: 8, payload: [0x7F, 0xFF, 0xFF, 0xFF])],
        [Frame(type: 8, stream: 0, payload: [0x7F, 0xFF, 0xFF, 0xFF])], [Frame(type: 1, flags: 5, payload: [0xFF])],
        [Frame(type: 1, flags: 0xD, payload: [200, 0x88])], [Frame(type: 0, flags: 9, payload: [255])],
        [Frame(type: 10, payload: [0, 0])], [Frame(type: 12, stream: 0, payload: [0, 1, 65])], [Frame(type: 200)],
        [Frame(type: 6, stream: 0, payload: [0])],
        [Frame(type: 4, stream: 0, payload: [0, 4, 0xFF, 0xFF, 0xFF, 0xFF])],
    ])
    func `frames in an impossible order end in a response or an error`(_ response: [Frame]) async throws {
        let script = FrameScript(response: response, closes: true)
        for body in [HTTPBody.none, HTTPBody(Data(count: 100_000))] {
            try await TLSServer.run([script]) { transport, server in
                await Self.failure(of: transport, server, body: body)
            }
        }
    }
}
#endif
