import AuthTesting
import Foundation
import NetworkCore
import Testing

@Suite("ResponseCache in a folder", .timeLimit(.minutes(10)))
struct ResponseCacheFolderTests {
    let place: TemporaryFile

    init() throws {
        place = try TemporaryFile(Data())
    }

    var folder: URL { place.url.deletingLastPathComponent().appendingPathComponent("cache") }
    var files: [URL] {
        get throws { try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) }
    }

    func get(_ url: URL, _ cache: ResponseCache) async throws -> Data {
        let transport = CachingTransport(URLSessionTransport(), cache: cache)
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: url), isIdempotent: true)
        return try await transport.perform(request).body.collect(upTo: 1_000)
    }

    func server() throws -> LoopbackServer {
        try LoopbackServer { _ in .respond(200, headers: ["Cache-Control": "max-age=3600"], body: Data("body".utf8)) }
    }

    @Test func `responses outlive the process, readable by this user only`() async throws {
        let server = try server()
        defer { server.stop() }
        _ = try await get(server.url, try ResponseCache(folder: folder))
        let later = try ResponseCache(folder: folder)
        #expect(later.count == 1)
        #expect(try await get(server.url, later) == Data("body".utf8) && server.requests.count == 1)
        for url in try files + [folder] {
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == (url == folder ? 0o700 : 0o600))
        }
        later.deleteAll()
        #expect(try files.isEmpty)
    }

    @Test func `a damaged file is a miss, and is deleted`() async throws {
        let server = try server()
        defer { server.stop() }
        _ = try await get(server.url, try ResponseCache(folder: folder))
        let file = try #require(try files.first)
        let whole = try Data(contentsOf: file)
        for index in stride(from: 0, to: whole.count, by: 7) {
            var damaged = whole
            damaged[index] ^= 1
            try damaged.write(to: file)
            let cache = try ResponseCache(folder: folder)
            #expect(try await get(server.url, cache) == Data("body".utf8))
            cache.deleteAll()
        }
        try whole.dropLast().write(to: file)
        let before = server.requests.count
        #expect(try await get(server.url, try ResponseCache(folder: folder)) == Data("body".utf8))
        #expect(server.requests.count == before + 1)
    }

    @Test func `a folder that holds more than the limit is cut to it`() async throws {
        let server = try server()
        defer { server.stop() }
        let cache = try ResponseCache(folder: folder)
        for number in 0..<20 { _ = try await get(server.url.appendingPathComponent("\(number)"), cache) }
        #expect(try files.count == 20)
        #expect(try ResponseCache(folder: folder, maximumEntries: 10).count <= 10)
        #expect(try files.count <= 10)
    }
}
