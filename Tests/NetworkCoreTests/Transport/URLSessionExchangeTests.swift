import AuthTesting
import Foundation
import Testing

@testable import NetworkCore

@Suite("URLSessionExchange")
struct URLSessionExchangeTests {
    func exchange(_ request: HTTPTransportRequest, ends: Recorder<Bool> = Recorder()) -> URLSessionExchange {
        var request = request
        let report = request.onEvent
        request.onEvent = { event in
            report?(event)
            if event.kind == .metrics { ends.record(true) }
        }
        let upload = request.body.data.map { URLSessionUpload.data($0) } ?? .none
        return URLSessionExchange(request, upload: upload, clock: ManualTimeSource())
    }

    @Test func `progress never decreases`() {
        let reported = Recorder<TransferProgress>()
        let body = HTTPBody(Data(repeating: 7, count: 10))
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: baseURL), body: body) { event in
            if let sent = event.progress { reported.record(sent) }
        }
        let exchange = exchange(request)
        for sent in [4, 2, 4, 10, 0] as [Int64] { exchange.noteSent(sent) }
        #expect(reported.values == [4, 10].map { TransferProgress(completed: $0, total: 10) })
    }

    @Test func `pieces that have arrived are read before an error is thrown`() async throws {
        let exchange = exchange(HTTPTransportRequest(head: HTTPRequestHead(url: baseURL)))
        exchange.receive(Data("a".utf8))
        exchange.receive(Data("b".utf8))
        exchange.complete(with: URLError(.networkConnectionLost))
        #expect(try await exchange.next() == Data("a".utf8))
        #expect(try await exchange.next() == Data("b".utf8))
        await #expect(throws: HTTPTransportError.self) { try await exchange.next() }
    }

    @Test func `an exchange ends once`() async throws {
        let ends = Recorder<Bool>()
        let exchange = exchange(HTTPTransportRequest(head: HTTPRequestHead(url: baseURL)), ends: ends)
        exchange.noteWhole()
        exchange.fail(CancellationError())
        exchange.complete(with: URLError(.cancelled))
        #expect(try await exchange.next() == nil)
        #expect(ends.values == [true])
    }
}
