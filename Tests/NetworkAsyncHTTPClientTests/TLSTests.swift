#if AsyncHTTPClient
import ConcurrencyPrimitives
import Crypto
import Foundation
import NetworkExchange
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkCore

/// Certificates, public keys and HTTP/2, against a server on a loopback port with a certificate of its own.
@Suite(.timeLimit(.minutes(20))) struct TLSTests {
    /// What a transport trusts.
    enum Trust: CaseIterable {
        case authority, pins, noAuthority, otherAuthority, otherPin, otherHost

        var isOfServer: Bool { self == .authority || self == .pins }

        func transport(for server: TLSServer) throws -> AsyncHTTPClientTransport {
            let other = try TestIdentity()
            switch self {
            case .authority, .otherHost: return try server.transport()
            case .pins: return try server.transport(pins: [server.identity.pin, other.pin])
            case .noAuthority: return AsyncHTTPClientTransport()
            case .otherAuthority: return AsyncHTTPClientTransport(trust: try other.trust())
            case .otherPin: return try server.transport(pins: [other.pin])
            }
        }
    }

    @Test(arguments: Trust.allCases, HTTPTransportRequest.Purpose.allCases)
    func `a host gets a request if its certificate is trusted and names it, and its key is one of the pins`(
        trust: Trust, purpose: HTTPTransportRequest.Purpose
    ) async throws {
        let identity = try TestIdentity(address: [127, 0, 0, trust == .otherHost ? 2 : 1])
        for protocols in [["http/1.1"], ["h2", "http/1.1"]] {
            try await TLSServer.run(identity: identity, protocols: protocols) { server in
                let transport = try trust.transport(for: server)
                let request = server.request(purpose, body: HTTPBody(Data("ok".utf8)))
                if trust.isOfServer {
                    #expect(try await transport.perform(request).body.collect(upTo: 10) == Data("ok".utf8))
                } else {
                    let error = await #expect(throws: HTTPTransportError.self) { try await transport.perform(request) }
                    #expect(error?.code == .tlsFailed)
                }
                #expect(server.requests == (trust.isOfServer ? 1 : 0))
            }
        }
    }

    @Test func `what is no certificate is refused, and no part of one ends the process`() throws {
        let identity = try TestIdentity()
        let certificate = identity.encodedCertificate
        let key = try #require(Certificate.subjectPublicKeyInfo(of: Array(certificate)))
        #expect(Data(SHA256.hash(data: key)).base64EncodedString() == identity.pin)
        let lines = certificate.base64EncodedString(options: .lineLength64Characters)
        let pem = "# comment\n-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
        #expect(try ServerTrust.certificates(inPEM: pem + pem) == [certificate, certificate])
        for count in 0..<certificate.count {
            #expect(Certificate.subjectPublicKeyInfo(of: Array(certificate.prefix(count))) == nil)
            var damaged = Array(certificate)
            damaged[count] = 0xFF
            _ = Certificate.subjectPublicKeyInfo(of: damaged)
        }
        for authority in [Data(), Data("text".utf8), certificate + Data([0]), certificate.dropLast()] {
            let error = #expect(throws: HTTPTransportError.self) { try ServerTrust(authorities: [authority]) }
            #expect(error?.code == .tlsFailed)
        }
        for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA", "no certificate"] {
            #expect(throws: HTTPTransportError.self) { try ServerTrust.certificates(inPEM: text) }
        }
    }

    #if os(Linux)
    @Test func `URLSession on Linux refuses authorities and pins when it is made`() throws {
        let identity = try TestIdentity()
        let pins = try PublicKeyPins(["127.0.0.1": [identity.pin]])
        for trust in [try ServerTrust(authorities: [identity.encodedCertificate]), try ServerTrust(pins: pins)] {
            let error = #expect(throws: HTTPTransportError.self) { try URLSessionTransport(trust: trust) }
            #expect(error?.code == .tlsFailed && error?.reason.contains("AsyncHTTPClientTransport") == true)
        }
        _ = try URLSessionTransport(trust: .system)
    }
    #endif

    private static let whole: [FrameScript.Frame] = [
        .head([(":status", "200"), ("content-length", "0")]), .data("", ends: true),
    ]

    /// More rounds than the streams that a connection may have at a time.
    @Test(arguments: [
        (FrameScript(opening: [.settings([(3, 100)])], response: whole), 130),
        (FrameScript(response: whole + [.reset(8)]), 10), (FrameScript(response: whole, closes: true), 10),
    ])
    func `a response of HTTP/2 may end before its request`(script: FrameScript, rounds: Int) async throws {
        try await TLSServer.run([script]) { transport, server in
            var ended = 0
            while ended < rounds {
                let pieces = AsyncStream<Data>.makeStream()
                pieces.continuation.yield(Data("first".utf8))
                do {
                    let response = try await transport.perform(server.request(body: HTTPBody(once: pieces.stream)))
                    #expect(try await response.body.collect(upTo: 10).isEmpty)
                    ended += 1
                } catch let error as HTTPTransportError where script.closes && error.code == .connectionFailed {
                    // It has met the connection that the server was about to close.
                }
                pieces.continuation.finish()
            }
        }
    }

    @Test func `a pinned host stays pinned however it is written`() throws {
        let pin = try TestIdentity().pin
        for host in ["API.example.com", "api.example.com.", "api.example.com"] {
            #expect(try PublicKeyPins([host: [pin]]).keys(of: Origin(url("https://Api.Example.com./x"))?.host) != nil)
        }
        let book = try PublicKeyPins(["xn--bcher-kva.example": [pin]])
        for host in ["xn--bcher-kva.example", "XN--bcher-kva.example.", "bücher.example"] {
            #expect(book.keys(of: host) != nil, "as a library may name the host: \(host)")
        }
        #expect(book.keys(of: "example") == nil && book.keys(of: "a b") == nil && book.keys(of: nil) == nil)
        #expect(try PublicKeyPins(["[::1]": [pin], "::1": [pin]]).keys(of: "::1")?.count == 1)
        for host in ["https://api.example.com", "api.example.com:443", "api.example.com/x", "[::1]:443", "", "a b"] {
            #expect(throws: HTTPTransportError.self) { try PublicKeyPins([host: [pin]]) }
        }
        for keys in [["YWJj"], []] as [Set<String>] {
            #expect(throws: HTTPTransportError.self, "no digest") { try PublicKeyPins(["api.example.com": keys]) }
        }
    }

    @Test func `concurrent calls share one connection of HTTP/2`() async throws {
        try await TLSServer.run { server in
            let transport = try server.transport()
            let versions = Locked<Set<String?>>([])
            let request = server.request(body: HTTPBody(Data("x".utf8))) { event in
                guard event.kind == .metrics else { return }
                versions.withLock { _ = $0.insert(event.metrics?.protocolName) }
            }
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { try await transport.perform(request).body.collect(upTo: 10) }
                }
                for try await body in group { #expect(body == Data("x".utf8)) }
            }
            #expect(server.requests == 50 && server.connections == 1 && versions.withLock { $0 } == ["h2"])
        }
    }

    /// The contract has the same rule for HTTP/1.1.
    @Test func `a body of HTTP/2 is read while it is still being sent, and its trailers arrive`() async throws {
        try await TLSServer.run(protocols: ["h2"]) { server in
            let transport = try server.transport()
            let (pieces, sent) = (AsyncStream.makeStream(of: Data.self), Recorder<Int64?>())
            let request = server.request(body: HTTPBody { pieces.stream }) { event in
                if event.kind == .sent { sent.record(event.progress?.completed) }
            }
            let response = try await transport.perform(request)
            var bodies = response.body.makeAsyncIterator()
            for number in 0..<20 {
                let piece = Data(repeating: UInt8(number), count: 20_000)
                pieces.continuation.yield(piece)
                var received = Data()
                while received.count < piece.count, let part = try await bodies.next() { received += part }
                #expect(received == piece)
            }
            pieces.continuation.finish()
            #expect(try await bodies.next() == nil)
            try await until { sent.values.last == 400_000 }
            #expect(try await response.completion().trailers["X-Received"] == "400000")
        }
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `the trailers of a request arrive after its body`(over version: String) async throws {
        try await TLSServer.run(protocols: [version]) { server in
            let transport = try server.transport()
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        // A length, which is not announced: trailers follow chunks only.
                        var body = number % 2 == 0 ? HTTPBody(Data(count: 100_000)) : HTTPBody(Data())
                        body.trailers = { HTTPHeaders([("X-Sum", "\(number)")]) }
                        let response = try await transport.perform(server.request(body: body))
                        let content = try await response.body.collect(upTo: 200_000)
                        let trailers = try await response.completion().trailers
                        #expect(trailers["X-Sum"] == "\(number)")
                        #expect(trailers["X-Received"] == "\(content.count)")
                    }
                }
                try await group.waitForAll()
            }
            let plain = try await transport.perform(server.request(body: HTTPBody(Data("x".utf8))))
            _ = try await plain.body.collect(upTo: 10)
            #expect(try await plain.completion().trailers["X-Sum"] == nil)
            #expect(server.fields.allSatisfy { names in !names.contains { $0.contains("latchkey") } })
        }
    }
}
#endif
