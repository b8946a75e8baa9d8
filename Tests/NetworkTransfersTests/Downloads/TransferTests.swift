import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

@Suite("Transfers as sequences, and their targets", .timeLimit(.minutes(10)))
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

    // MARK: A download replaces a regular file and nothing else

    /// What may be at the target's name.
    enum Occupant: CaseIterable {
        case folder, pipe, socket, link, danglingLink, linkToFolder

        func create(at url: URL) throws {
            let neighbour = url.deletingLastPathComponent().appendingPathComponent("neighbour")
            switch self {
            case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            case .pipe: try #require(mkfifo(url.path, 0o600) == 0)
            case .socket: try #require(mknod(url.path, S_IFSOCK | 0o600, 0) == 0)
            case .link:
                try Data("kept".utf8).write(to: neighbour)
                try FileManager.default.createSymbolicLink(at: url, withDestinationURL: neighbour)
            case .danglingLink: try FileManager.default.createSymbolicLink(at: url, withDestinationURL: neighbour)
            case .linkToFolder:
                try FileManager.default.createSymbolicLink(
                    at: url, withDestinationURL: url.deletingLastPathComponent())
            }
        }
    }

    static func kind(at url: URL) -> mode_t? {
        var status = stat()
        return lstat(url.path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    @Test(arguments: Occupant.allCases, [true, false])
    func `what is no regular file is refused, before a request is sent and after the response`(
        occupant: Occupant, isThereAtStart: Bool
    ) async throws {
        let place = try TemporaryFile(Data())
        let target = place.url.deletingLastPathComponent().appendingPathComponent("target")
        if isThereAtStart { try occupant.create(at: target) }
        let response = StubResponse { _ in
            if !isThereAtStart { try occupant.create(at: target) }
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: HTTPBody(Data("new".utf8)))
        }
        let transport = StubTransport((.any ~> response).repeated())
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        let error = try await #require(throws: NetworkError.self) { _ = try await client.download("x", to: target) }
        #expect(error.code == .fileFailed && "\(error)".contains("the target is a"), "\(error)")
        #expect(transport.requests.isEmpty == isThereAtStart)
        #expect([S_IFDIR, S_IFIFO, S_IFSOCK, S_IFLNK].contains(Self.kind(at: target)))
        let neighbour = target.deletingLastPathComponent().appendingPathComponent("neighbour")
        if occupant == .link { #expect(try Data(contentsOf: neighbour) == Data("kept".utf8)) }
        let names = try FileManager.default.contentsOfDirectory(atPath: target.deletingLastPathComponent().path)
        #expect(!names.contains { $0.hasSuffix(".partial") })
    }

    @Test func `a device is refused`() async throws {
        let client = NetworkClient(baseURL: baseURL, transport: StubTransport())
        let null = URL(fileURLWithPath: "/dev/null")
        let error = try await #require(throws: NetworkError.self) { _ = try await client.download("x", to: null) }
        #expect(error.code == .fileFailed && "\(error)".contains("a device"))
        #expect(Self.kind(at: null) == S_IFCHR)
    }

    @Test func `a path is downloaded to a file and into a folder`() async throws {
        let place = try TemporaryFile(Data("old".utf8), named: "old.txt")
        let folder = place.url.deletingLastPathComponent()
        let transport = StubTransport((.any ~> .status(200, body: Data("new".utf8))).repeated())
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        _ = try await client.download("files/7", query: ["size": 2], to: place.url)
        #expect(try Data(contentsOf: place.url) == Data("new".utf8))
        #expect(try await client.download("reports/7", into: folder).size == 3)
        #expect(transport.requests.map(\.method) == [.get, .get])
        #expect(transport.requests.first?.url?.absoluteString.hasSuffix("files/7?size=2") == true)
    }
}
