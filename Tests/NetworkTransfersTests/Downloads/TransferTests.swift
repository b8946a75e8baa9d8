import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import NetworkTransfers
import TestSupport
import Testing

@Suite("Transfers as sequences", .timeLimit(.minutes(10)))
struct TransferTests {
    let servers = LoopbackServers()

    @Test func `a download's progress ends with its file`() async throws {
        let content = Data(repeating: 7, count: 300_000)
        let server = try servers.start { _ in .respond(200, body: content) }
        let file = try TemporaryFile(Data())
        var finished: DownloadedFile?
        for try await update in server.client.downloading(Endpoint<Void>.get("x"), to: file.url) {
            #expect(finished == nil)
            switch update {
            case .progress(let progress): #expect(progress.total == 300_000)
            case .finished(let file): finished = file
            }
        }
        #expect(finished?.size == 300_000)
        #expect(try Data(contentsOf: file.url) == content)
    }

    @Test func `an upload's progress ends with the value of the response`() async throws {
        let server = try servers.start { request in
            .json(#"{"id":\#(request.body.count),"title":"x"}"#)
        }
        let endpoint = Endpoint<Article>.post(
            "x", body: .data(Data(repeating: 7, count: 300_000), contentType: "a/b"))
        var finished: Article?
        for try await update in server.client.uploading(endpoint) {
            if case .finished(let article) = update { finished = article }
        }
        #expect(finished?.id == 300_000)
        #expect(try await server.client.uploading(endpoint).value.id == 300_000)
    }

    /// G25: a minimum rate in place of a total deadline. Six minutes: six times the deadline of a call.
    @Test(arguments: [(1, false), (8_192, true)])
    func `a download may take long, and not indefinitely`(part: Int, isFastEnough: Bool) async throws {
        let (clock, rest) = (ManualTimeSource(), Locked(18))
        let response = StubResponse { _ in
            let body = HTTPBody {
                let isOver = rest.withLock { rest in
                    rest -= 1
                    return rest < 0
                }
                if isOver { return nil }
                clock.advance(by: .seconds(20))
                return Data(count: part)
            }
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
        }
        let client = NetworkClient(baseURL: baseURL, transport: StubTransport(.any ~> response), clock: clock)
        var options = DownloadOptions()
        (options.maximumResumptions, options.clock) = (0, clock)
        let file = try TemporaryFile(Data())
        let download = Task { [options] in try await client.download("file", to: file.url, options: options) }
        if isFastEnough { return #expect(try await download.value.size == Int64(18 * part)) }
        let error = await networkError { try await download.value }
        #expect(error?.code == .timedOut && error?.waitedFor == .responseBody)
        #expect(error?.reason?.contains("less than 4096 bytes in 1 min") == true)
    }

    @Test func `a failure ends the sequence, and a cancelled reader cancels the transfer`() async throws {
        let server = try servers.start { $0.target == "/hold" ? .hold : .respond(404) }
        await networkError { for try await _ in server.client.uploading(Endpoint<Void>.post("x")) {} }
        let (started, start) = AsyncStream<Void>.makeStream()
        let reader = Task {
            start.yield()
            for try await _ in server.client.uploading(Endpoint<Void>.post("hold")) {}
        }
        for await _ in started { break }
        await expectCancellation(of: reader)
    }
}
