#if AsyncHTTPClient
import AuthInterface
import ContractTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkCore
import Testing

@testable import NetworkAsyncHTTPClient

/// G26: what reaches AsyncHTTPClient of a connection. Each case is an order of events that no server can force.
@Suite(.timeLimit(.minutes(10))) struct ResponseLogHandlerTests {
    private struct LaterError: Error {}

    private let channel = EmbeddedChannel(
        handler: ResponseLogHandler(ResponseLog(decompressionRatio: 200), isStream: false))

    private func send(whole: Bool = true) throws {
        try channel.writeOutbound(HTTPClientRequestPart.head(.init(version: .http1_1, method: .POST, uri: "/")))
        if whole { try channel.writeOutbound(HTTPClientRequestPart.end(nil)) }
    }

    private func receiveHead(_ status: HTTPResponseStatus = .ok) throws {
        try channel.writeInbound(HTTPClientResponsePart.head(.init(version: .http1_1, status: status)))
    }

    private func receiveEnd() throws { try channel.writeInbound(HTTPClientResponsePart.end(nil)) }

    /// The parts that were passed on since the last question.
    private func passedOn() throws -> [String] {
        var parts: [String] = []
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head: parts.append("head")
            case .body: parts.append("body")
            case .end: parts.append("end")
            }
        }
        return parts
    }

    /// A request with a note and a permit, and an open connection.
    private func permitted(until deadline: Duration, on clock: ManualTimeSource) throws -> (
        head: HTTPClientRequestPart, permit: StartPermit, channel: EmbeddedChannel
    ) {
        let log = ResponseLog(decompressionRatio: 200)
        let permit = StartPermit(until: deadline, on: clock)
        permit.adopt()
        let fields = NIOHTTP1.HTTPHeaders([log.add(ExchangeNote(permit: permit))])
        let head = NIOHTTP1.HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: fields)
        let channel = EmbeddedChannel(handler: ResponseLogHandler(log, isStream: false))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 443)).wait()
        #expect(channel.isActive)
        return (.head(head), permit, channel)
    }

    @Test func `G28: no byte is written after the permit has ended`() throws {
        let clock = ManualTimeSource()
        let (head, permit, channel) = try permitted(until: clock.uptime, on: clock)
        #expect(throws: HTTPTransportError.self) { try channel.writeOutbound(head) }
        #expect(throws: HTTPTransportError.self) { try channel.writeOutbound(HTTPClientRequestPart.end(nil)) }
        #expect(try channel.readOutbound(as: HTTPClientRequestPart.self) == nil)
        channel.embeddedEventLoop.run()
        #expect(throws: HTTPTransportError.self) { try channel.throwIfErrorCaught() }
        #expect(!channel.isActive && permit.withdraw() == .notMade)
    }

    @Test func `G28: a body that comes too late is not written, and the connection is closed`() throws {
        let clock = ManualTimeSource()
        let (head, permit, channel) = try permitted(until: clock.uptime + .seconds(1), on: clock)
        try channel.writeOutbound(head)
        let written = try #require(try channel.readOutbound(as: HTTPClientRequestPart.self))
        #expect(written == .head(.init(version: .http1_1, method: .POST, uri: "/")), "the mark is taken out")
        clock.advance(by: .seconds(1))
        let body = HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: "token")))
        #expect(throws: HTTPTransportError.self) { try channel.writeOutbound(body) }
        #expect(try channel.readOutbound(as: HTTPClientRequestPart.self) == nil)
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive && permit.withdraw() == .made, "the head was written")
    }

    @Test func `a head that no request awaits is refused, before the end of a response and after it`() throws {
        #expect(throws: HTTPTransportError.self) { try receiveHead() }
        #expect(try passedOn() == [])
        for hasEnded in [false, true] {
            let again = ResponseLogHandlerTests()
            try again.send()
            try again.receiveHead()
            if hasEnded { try again.receiveEnd() }
            #expect(try again.passedOn() == (hasEnded ? ["head", "end"] : ["head"]))
            #expect(throws: HTTPTransportError.self) { try again.receiveHead() }
            #expect(try again.passedOn() == [])
        }
    }

    @Test func `the end of a response that comes before its request was sent is passed on after that`() throws {
        try send(whole: false)
        try receiveHead()
        try receiveEnd()
        #expect(try passedOn() == ["head"])
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        channel.embeddedEventLoop.run()
        #expect(try passedOn() == ["end"])
    }

    @Test func `where the server does not want the rest of the request, the end is passed on at once`() throws {
        try send(whole: false)
        try receiveHead(.payloadTooLarge)
        try receiveEnd()
        #expect(try passedOn() == ["head", "end"])
    }

    @Test func `an error, or the end of the connection, after such an end is none of that response`() throws {
        try send(whole: false)
        try receiveHead()
        try receiveEnd()
        channel.pipeline.fireErrorCaught(LaterError())
        #expect(throws: Never.self) { try channel.throwIfErrorCaught() }
        channel.pipeline.fireChannelInactive()
        #expect(try passedOn() == ["head", "end"])
    }

    @Test func `an error before the end of a response is its error`() throws {
        try send()
        try receiveHead()
        channel.pipeline.fireErrorCaught(LaterError())
        #expect(throws: LaterError.self) { try channel.throwIfErrorCaught() }
    }
}
#endif
