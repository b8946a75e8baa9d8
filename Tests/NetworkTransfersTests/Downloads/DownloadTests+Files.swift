import ContractTesting
import Foundation
import NetworkTestSupport
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

extension DownloadTests {
    @Test func `a file replaces its target when it is whole, with progress`() async throws {
        let server = try servers.start { _ in .respond(200, body: content) }
        let progress = Recorder<TransferProgress>()
        let file = try await server.client.download(endpoint, to: target) { progress.record($0) }
        #expect(try Data(contentsOf: target) == content)
        #expect(file.size == Int64(content.count) && file.resumptions == 0)
        #expect(progress.values.first == TransferProgress(completed: 0, total: 100_000))
        #expect(progress.values.last?.fraction == 1)
        #expect(try neighbours == ["target.bin"])
        let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(server.requests.first?["Accept-Encoding"] == "identity")
    }

    @Test(arguments: [["ETag": "\"v1\""], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]])
    func `a lost connection is resumed where it ended`(validator: [String: String]) async throws {
        let fields = validator.merging(["Date": "Mon, 07 Nov 1994 08:49:37 GMT"]) { $1 }
        let server = try servers.start { [content] request in
            let first = Self.first(of: request)
            return Self.part(content, from: first, cutAfter: first < 80_000 ? 40_000 : nil, fields: fields)
        }
        let file = try await server.client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == content)
        #expect(file.resumptions == 2)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=40000-", "bytes=80000-"])
        #expect(server.requests.last?["If-Range"] == validator.values.first)
    }

    @Test(arguments: [[:], ["ETag": "W/\"v1\""], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]])
    func `without a strong validator a lost connection is an error, and the target stays`(
        fields: [String: String]
    ) async throws {
        let server = try servers.start { [content] _ in
            Self.part(
                content, cutAfter: 40_000, fields: fields.merging(["Date": "Sun, 06 Nov 1994 08:49:37 GMT"]) { $1 })
        }
        await networkError { try await server.client.download(endpoint, to: target, options: options) }
        #expect(server.requests.count == 1)
        #expect(try Data(contentsOf: target) == Data("old".utf8))
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a resource that has changed is received from its start`() async throws {
        let newer = Data(content.reversed())
        let server = try servers.start { [content] request in
            request["Range"] == nil
                ? Self.part(content, cutAfter: 40_000) : Self.part(newer, fields: ["ETag": "\"v2\""])
        }
        try await server.client.download(endpoint, to: target, options: options)
        #expect(try Data(contentsOf: target) == newer)
    }

    @Test(
        arguments: [
            ["Content-Range": "bytes 39999-99999/100000"], ["Content-Range": "bytes 40000-99999/100001"],
            ["Content-Range": "bytes */100000"], ["Content-Range": "nonsense"],
            ["Content-Type": "multipart/byteranges; boundary=x", "Content-Range": "none"], ["ETag": "\"v2\""],
            ["Content-Encoding": "br"], ["Content-Range": "bytes 40000-9223372036854775807/*"],
        ])
    func `a part that was not requested is an error`(fields: [String: String]) async throws {
        let server = try servers.start { [content] request in
            // Nothing has asked for a part of this one.
            if request.target == "/whole" {
                return Self.part(content, status: 206, fields: ["Content-Range": "bytes 0-99999/100000"])
            }
            return request["Range"] == nil
                ? Self.part(content, cutAfter: 40_000) : Self.part(content, from: 40_000, fields: fields)
        }
        for endpoint in [endpoint, .get("whole")] {
            let error = await networkError { try await server.client.download(endpoint, to: target, options: options) }
            #expect(error?.code == .invalidResponse)
        }
        #expect(try Data(contentsOf: target) == Data("old".utf8))
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a file that is kept is continued by the next call, of the same session only`() async throws {
        let server = try cuttingServer { $0["X-Cut"] == "1" }
        let provider = ScriptedTokenProvider()
        let network = server.client.authenticated(by: provider)
        let cut = endpoint.header("X-Cut", "1")
        await #expect(throws: NetworkError.self) { try await network.download(cut, to: target, options: keeping) }
        #expect(try neighbours == Self.kept)
        let file = try await network.download(endpoint, to: target, options: keeping)
        #expect(file.resumptions == 1 && file.size == 100_000)
        #expect(try Data(contentsOf: target) == content)
        #expect(try neighbours == ["target.bin"])
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=40000-"])

        await #expect(throws: NetworkError.self) { try await network.download(cut, to: target, options: keeping) }
        provider.set(.success(.ofAnotherSession))
        try await network.download(endpoint, to: target, options: keeping)
        #expect(try Data(contentsOf: target) == content)
        #expect(server.requests.map { $0["Range"] }.suffix(3) == [nil, "bytes=40000-", nil])
    }

    @Test(arguments: [
        Data("{}".utf8), Data("[".utf8), Data(#"{"request":"GET","validator":"\"v1\"","length":9}"#.utf8),
    ])
    func `a partial file that its record does not describe is not used`(record: Data) async throws {
        let server = try servers.start { [content] _ in .respond(200, body: content) }
        try Data("junk".utf8).write(to: folder.appendingPathComponent(".target.bin.partial"))
        try record.write(to: folder.appendingPathComponent(".target.bin.partial.json"))
        try await server.client.download(endpoint, to: target, options: keeping)
        #expect(server.requests.map { $0["Range"] } == [nil])
        #expect(try Data(contentsOf: target) == content)
    }

    @Test func `a partial file that has another name too is not written`() async throws {
        let server = try servers.start { [content] _ in .respond(200, body: content) }
        let other = folder.appendingPathComponent("other.bin")
        try Data("mine".utf8).write(to: other)
        try FileManager.default.linkItem(at: other, to: folder.appendingPathComponent(".target.bin.partial"))
        try await server.client.download(endpoint, to: target, options: keeping)
        #expect(try Data(contentsOf: target) == content)
        #expect(try Data(contentsOf: other) == Data("mine".utf8))
    }

    @Test func `a file over the limit is an error, announced or not, and is not kept`() async throws {
        let server = try servers.start { [content] request in
            request.target == "/file.bin" ? .respond(200, body: content) : Self.cutChunks(content)
        }
        for var options in [options, keeping] {
            options.maximumSize = 99_999
            for path in ["file.bin", "unannounced"] {
                let error = await networkError {
                    try await server.client.download(Endpoint<Void>.get("\(path)"), to: target, options: options)
                }
                #expect(error?.code == .responseTooLarge)
            }
        }
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a refusal is the server's error, and leaves nothing`() async throws {
        let server = try servers.start { _ in .json(#"{"success":false,"code":"NOT_FOUND"}"#, status: 404) }
        let error = try #require(await networkError { try await server.client.download(endpoint, to: target) })
        #expect(error.status == 404 && error.serverError?.code == "NOT_FOUND")
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a folder and a place that cannot be written are errors before anything is sent`() async throws {
        let server = try servers.start { [content] _ in .respond(200, body: content) }
        for place in [folder, folder.appendingPathComponent("missing/file.bin")] {
            let error = try #require(await networkError { try await server.client.download(endpoint, to: place) })
            #expect(error.code == .fileFailed && !"\(error)".contains(folder.lastPathComponent))
        }
        let remote = url("https://example.com\(folder.path)")
        #expect(await networkError { try await server.client.download(endpoint, into: remote) }?.code == .fileFailed)
        #expect(server.requests.isEmpty)
    }

    @Test func `a download into a folder takes the server's name, and replaces nothing`() async throws {
        let server = try servers.start { request in
            let field = #"attachment; filename="../../target.bin""#
            return .respond(
                200, headers: request.target == "/x" ? ["Content-Disposition": field] : [:], body: Data("new".utf8))
        }
        let named = try await server.client.download(Endpoint<Void>.get("x"), into: folder)
        let unnamed = try await server.client.download(Endpoint<Void>.get("a/report.pdf"), into: folder)
        #expect(named.url.lastPathComponent == "target 2.bin" && unnamed.url.lastPathComponent == "report.pdf")
        #expect(try neighbours == ["report.pdf", "target 2.bin", "target.bin"])
        #expect(try Data(contentsOf: target) == Data("old".utf8))
    }

    @Test func `a second file of the longest name fits into the folder too`() throws {
        for name in ["a." + String(repeating: "b", count: 253), "é." + String(repeating: "é", count: 126)] {
            for _ in 0..<2 {
                let url = try ReplacementFile.reserve(name, in: folder)
                #expect(url.lastPathComponent.utf8.count <= ContentDisposition.maximumFileNameLength)
                #expect(url.lastPathComponent.first == name.first)
            }
        }
    }

    /// A server chooses the name, also with bytes that are no text.
    @Test func `no file of a folder gets a name that hides it`() throws {
        for name in ["\u{FFFD}.bashrc", ".\u{FFFD}.bashrc", "\u{FFFD}", "\u{FFFD}.\u{FFFD}"] {
            let safe = ContentDisposition.safeFileName(name) ?? "fallback"
            let url = try ReplacementFile.reserve(safe, in: folder)
            #expect(!url.lastPathComponent.hasPrefix(".") && !url.lastPathComponent.contains("\u{FFFD}"))
        }
        #expect(try ReplacementFile.reserve("\u{FFFD}.rc", in: folder).lastPathComponent == "\u{FFFD}.rc")
    }

    @Test func `a file that cannot take its name leaves none in the folder`() throws {
        var file = try PartialFile(of: folder.appendingPathComponent("download"), keepsFile: false)
        try file.append(Data("new".utf8))
        // Its bytes are gone, as on a disk that was unmounted.
        for name in try neighbours where name.hasSuffix(".partial") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
        let error = try #require(throws: NetworkError.self) { _ = try file.commit(into: folder, as: "report.pdf") }
        #expect(error.code == .fileFailed)
        #expect(try neighbours == ["target.bin"])
    }

    @Test func `a cancelled download leaves nothing`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"
        let server = try servers.start { _ in .rawThenHold(Data(head.utf8)) }
        let (started, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await server.client.download(endpoint, to: target) { if $0.completed > 0 { start.yield() } }
        }
        for await _ in started { break }
        await expectCancellation(of: task)
        #expect(try neighbours == ["target.bin"])
    }
}
