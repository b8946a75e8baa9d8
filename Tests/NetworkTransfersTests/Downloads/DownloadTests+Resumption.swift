import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

// What a download requests after a response that is not the whole file, and what it keeps for a later call.
extension DownloadTests {
    /// Leaves the first 40,000 bytes beside the target.
    func leavePartialFile() async throws {
        let server = try servers.start { [content] _ in Self.part(content, cutAfter: 40_000) }
        await networkError { try await server.client.download(endpoint, to: target, options: keeping) }
        #expect(try neighbours == Self.kept)
    }

    @Test func `a response that arrives faster than it is written goes on in smaller parts`() async throws {
        /// The file from a byte on. It ends after a number of bytes, as that of a transport that can hold no more.
        func response(from first: Int, holding count: Int? = nil) -> StubResponse {
            StubResponse { [content] _ in
                let rest = Locked([content.dropFirst(first).prefix(count ?? .max)])
                let body = HTTPBody(pull: {
                    if let piece = rest.withLock({ $0.popLast() }) { return Data(piece) }
                    if count != nil { throw HTTPTransportError(.readTooSlowly, reason: "more bytes wait than may") }
                    return nil
                })
                let fields: HTTPHeaders =
                    first == 0
                    ? ["ETag": "\"v1\""] : ["Content-Range": "bytes \(first)-99999/100000", "ETag": "\"v1\""]
                let head = HTTPResponseHead(status: first == 0 ? 200 : 206, headers: fields)
                return HTTPTransportResponse(head: head, body: body)
            }
        }
        let transport = StubTransport(
            .any ~> response(from: 0, holding: 40_000), .any ~> response(from: 40_000, holding: 10_000),
            .any ~> response(from: 50_000))
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        let file = try await client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == content)
        #expect(file.size == 100_000 && file.resumptions == 2)
        let ranges = transport.requests.map { $0.headers["Range"] }
        #expect(ranges == [nil, "bytes=40000-16817215", "bytes=50000-8438607"], "16 MiB, and 8")
    }

    @Test func `parts that end before the total are followed by requests for the rest`() async throws {
        let server = try servers.start { [content] request in
            guard request["Range"] != nil else { return Self.cutChunks(content.prefix(40_000)) }
            let first = Self.first(of: request)
            let last = min(first + 9_999, content.count - 1)
            return .respond(
                206, headers: ["Content-Range": "bytes \(first)-\(last)/\(content.count)", "ETag": "\"v1\""],
                body: content[first...last])
        }
        var options = options
        options.maximumResumptions = 1
        let file = try await server.client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == content)
        #expect(file.size == 100_000 && file.resumptions == 1)
        #expect(server.requests.count == 7)
    }

    @Test func `G25: a server that sends the file byte by byte is left`() async throws {
        let server = try servers.start { [content] request in
            let first = Self.first(of: request)
            guard first > 0 else { return Self.cutChunks(content.prefix(1)) }
            return .respond(
                206, headers: ["Content-Range": "bytes \(first)-\(first)/\(content.count)", "ETag": "\"v1\""],
                body: content[first...first])
        }
        let error = try await #require(throws: NetworkError.self) {
            try await server.client.download(endpoint, to: target, options: options)
        }
        #expect(error.code == .invalidResponse && server.requests.count == 2 + Download.mostShortParts)
    }

    @Test(arguments: [(10, "connectionFailed"), (30, "invalidResponse")])
    func `a part with another number of bytes than its range is an error`(count: Int, code: String) async throws {
        let server = try servers.start { [content] request in
            guard request["Range"] != nil else { return Self.cutChunks(content.prefix(40_000)) }
            return .respond(
                206, headers: ["Content-Range": "bytes 40000-40019/100000", "ETag": "\"v1\""],
                body: content[40_000..<(40_000 + count)])
        }
        var options = options
        options.maximumResumptions = 1
        let error = await networkError { try await server.client.download(endpoint, to: target, options: options) }
        #expect(error?.code.rawValue == code)
        #expect(try Data(contentsOf: target) == Data("old".utf8))
    }

    @Test func `a request that is no GET is not sent again`() async throws {
        let server = try cuttingServer()
        let endpoint = Endpoint<Void>.post("file.bin", body: .data(Data("query".utf8)))
        for options in [options, keeping] {
            await networkError { try await server.client.download(endpoint, to: target, options: options) }
        }
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.allSatisfy { $0["Range"] == nil })
        #expect(try neighbours == ["target.bin"])
    }

    @Test(arguments: [500, 502, 503, 504, 408, 425, 429, 403, 404, 410])
    func `a file that is kept survives a failure, and is removed by a refusal`(status: Int) async throws {
        try await leavePartialFile()
        let server = try servers.start { _ in .respond(status) }
        await networkError { try await server.client.download(endpoint, to: target, options: keeping) }
        let isRefusal = [403, 404, 410].contains(status)
        #expect(try neighbours == (isRefusal ? ["target.bin"] : Self.kept))
        let kept = try? Data(contentsOf: folder.appendingPathComponent(Self.kept[0]))
        #expect(kept == (isRefusal ? nil : content.prefix(40_000)))
    }

    @Test(arguments: [
        (AuthenticationError.Code.refreshUnavailable, true), (.storeUnavailable, true), (.notSignedIn, false),
        (.sessionEnded, false),
    ])
    func `a file that is kept survives a missing token, unless the session has ended`(
        code: AuthenticationError.Code, isKept: Bool
    ) async throws {
        try await leavePartialFile()
        let server = try servers.start { _ in .respond(200) }
        let provider = ScriptedTokenProvider()
        provider.set(.failure(AuthenticationError(code)))
        let network = server.client.authenticated(by: provider)
        await networkError { try await network.download(endpoint, to: target, options: keeping) }
        #expect(try neighbours == (isKept ? Self.kept : ["target.bin"]))
    }

    @Test func `the identity of a request has no secret of its URL, and tells requests apart all the same`() {
        func identity(_ query: String) -> String { HTTPRequestHead(url: url("https://x.net/a?\(query)")).identity }
        #expect(!identity("signature=canary").contains("canary"))
        #expect(!HTTPRequestHead(url: url("https://x.net/reset/canary")).identity.contains("canary"))
        #expect(identity("signature=canary") == identity("signature=canary"))
        #expect(identity("signature=canary") != identity("signature=canarz"))
    }

    @Test func `a file that is kept is continued by the same request only`() async throws {
        let server = try cuttingServer { $0["X-Cut"] == "1" }
        let other = try cuttingServer { _ in false }
        let cut = endpoint.header("X-Cut", "1")
        let different: [(LoopbackServer, Endpoint<Void>)] = [
            (other, endpoint), (server, endpoint.header("Accept", "image/png")),
            (server, endpoint.header("Accept-Language", "de")), (server, .get("file.bin", query: ["size": 2])),
        ]
        for (origin, endpoint) in different {
            await networkError { try await server.client.download(cut, to: target, options: keeping) }
            #expect(try neighbours == Self.kept)
            try await origin.client.download(endpoint, to: target, options: keeping)
            #expect(origin.requests.last?["Range"] == nil && origin.requests.last?["If-Range"] == nil)
            #expect(try Data(contentsOf: target) == content)
        }
    }

    /// Gives each request another URL, as the signature of a storage server does.
    struct Signing: RequestInterceptor {
        let count = Locked(0)

        func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead {
            var request = request
            count.withLock { $0 += 1 }
            request.url = url("\(request.url.absoluteString)?signature=\(count.withLock { $0 })")
            return request
        }
    }

    @Test func `a lost connection is resumed by a request whose URL is signed anew`() async throws {
        let server = try cuttingServer()
        var options = options
        options.request.interceptors = [Signing()]
        try await server.client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == content)
        #expect(server.requests.map(\.target) == ["/file.bin?signature=1", "/file.bin?signature=2"])
        #expect(server.requests.last?["Range"] == "bytes=40000-")
    }

    @Test func `a resource that was modified is not continued`() async throws {
        let server = try servers.start { [content] request in
            let first = Self.first(of: request)
            let fields = [
                "Last-Modified": "Sun, 06 Nov 1994 08:49:\(first > 0 ? 38 : 37) GMT",
                "Date": "Mon, 07 Nov 1994 08:49:37 GMT",
            ]
            return Self.part(content, from: first, cutAfter: first > 0 ? nil : 40_000, fields: fields)
        }
        let error = await networkError { try await server.client.download(endpoint, to: target, options: options) }
        #expect(error?.code == .invalidResponse && server.requests.count == 2)
    }

    /// Cancels a call when it has the last byte.
    func cancelWhenWhole(_ network: some NetworkService) async throws {
        await #expect(throws: CancellationError.self) {
            // In a task of its own, which ends with the call.
            try await Task {
                try await network.download(endpoint, to: target, options: keeping) { progress in
                    if progress.fraction == 1 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }.value
        }
        #expect(try neighbours == Self.kept)
    }

    @Test(arguments: [
        (["Content-Range": "bytes */100000"], true), (["Content-Range": "bytes */100000", "ETag": "\"v2\""], false),
        (["Content-Range": "bytes */99999"], false), (["Content-Range": "bytes */"], false),
        (["Content-Range": "bytes 0-9/100000"], false), ([:], false),
    ])
    func `a file that was whole when its call was cancelled is used if a 416 proves it, and else received again`(
        fields: [String: String], isWhole: Bool
    ) async throws {
        let newer = Data(content.reversed())
        let isNewer = Locked(false)
        let server = try servers.start { [content] request in
            if request["Range"] != nil { return .respond(416, headers: fields) }
            return .respond(200, headers: ["ETag": "\"v1\""], body: isNewer.withLock { $0 } ? newer : content)
        }
        try await cancelWhenWhole(server.client)
        isNewer.withLock { $0 = true }
        let file = try await server.client.download(endpoint, to: target, options: keeping)
        #expect(try Data(contentsOf: target) == (isWhole ? content : newer))
        #expect(file.size == 100_000 && server.requests.count == (isWhole ? 2 : 3))
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a download that is redirected to another origin is resumed there`() async throws {
        let storage = try cuttingServer()
        let server = try servers.start { _ in .respond(302, headers: ["Location": "\(storage.url)/stored"]) }
        try await server.client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == content)
        #expect(storage.requests.map { $0["Range"] } == [nil, "bytes=40000-"])
    }

    @Test func `a partial file that takes its place before it is locked is not written`() throws {
        let partial = folder.appendingPathComponent(".target.bin.partial")
        try Data("whole".utf8).write(to: partial)
        var locks = 0
        let file = try ReplacementFile(partial, keeping: true) { _ in
            locks += 1
            return locks > 1 || rename(partial.path, target.path) == 0
        }
        #expect(locks == 2 && file.length == 0)
        try file.append(Data("new".utf8))
        #expect(try Data(contentsOf: target) == Data("whole".utf8))
        #expect(try Data(contentsOf: partial) == Data("new".utf8))
    }

    @Test func `a child that was started meanwhile does not keep the partial file locked`() throws {
        let partial = folder.appendingPathComponent(".target.bin.partial")
        var childs: Int32 = -1
        defer { close(childs) }
        var file: ReplacementFile? = try ReplacementFile(partial, keeping: true) { descriptor in
            // Until it executes its program, a child shares the open file as a duplicate of its descriptor does.
            childs = dup(descriptor)
            return flock(descriptor, LOCK_EX | LOCK_NB) == 0
        }
        #expect(childs >= 0 && file?.length == 0)
        file = nil
        #expect(throws: Never.self) { try ReplacementFile(partial, keeping: true) }
    }
}
