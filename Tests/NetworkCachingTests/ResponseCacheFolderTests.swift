import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Dispatch
import Foundation
import NetworkCore
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCaching

@Suite("ResponseCache in a folder", .timeLimit(.minutes(10)))
struct ResponseCacheFolderTests {
    let place: TemporaryFile

    init() throws {
        place = try TemporaryFile(Data())
    }

    var folder: URL { place.url.deletingLastPathComponent().appendingPathComponent("cache") }
    var key: URL { folder.appendingPathComponent("key") }
    var lock: URL { folder.appendingPathComponent("lock") }
    var files: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { !["key", "lock"].contains($0.lastPathComponent) }
        }
    }

    func get(_ url: URL, _ cache: ResponseCache) async throws -> Data {
        let transport = CachingTransport(URLSessionTransport(), cache: cache)
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: url))
        return try await transport.perform(request).body.collect(upTo: 1_000)
    }

    func server() throws -> LoopbackServer {
        try LoopbackServer { _ in .respond(200, headers: ["Cache-Control": "max-age=3600"], body: Data("body".utf8)) }
    }

    @Test func `a token that Vary names is in no file, and its session is served with the next one`() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=3600", "Vary": "X-Access, Accept-Language"]
        let transport = StubTransport(.any ~> .status(200, headers: headers, body: Data("body".utf8)))
        let cache = try ResponseCache(folder: folder)
        let provider = ScriptedTokenProvider()
        let client = NetworkClient(baseURL: baseURL, transport: CachingTransport(transport, cache: cache))
            .authenticated(
                by: provider, policy: AuthenticationPolicy(placement: .fields(accessToken: "X-Access")))
        #expect(try await client.send(Endpoint<Data>.get("x")) == Data("body".utf8))
        for file in try files { #expect(try Data(contentsOf: file).range(of: Data("access-0".utf8)) == nil) }
        provider.set(.success(SessionToken.first.next))
        #expect(try await client.send(Endpoint<Data>.get("x")) == Data("body".utf8))
        #expect(transport.requests.count == 1 && cache.count == 1)
    }

    @Test func `a folder that is in use costs no other file its descriptor`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let held = try CacheFolderLock(in: folder)
        let (isOver, lost) = (Locked(false), Locked(0))
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                let file = open("/dev/null", O_RDONLY)
                for _ in 0..<10 where fcntl(file, F_GETFD) < 0 { lost.withLock { $0 += 1 } }
                if close(file) < 0 { lost.withLock { $0 += 1 } }
            }
            hasEnded.signal()
        }
        for _ in 0..<20_000 { #expect(throws: ResponseCacheError.self) { try CacheFolderLock(in: folder) } }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        #expect(lost.withLock { $0 } == 0)
        withExtendedLifetime(held) {}
    }

    @Test func `responses outlive the process, readable by this user only`() async throws {
        let server = try server()
        defer { server.stop() }
        _ = try await get(server.url, try ResponseCache(folder: folder))
        let later = try ResponseCache(folder: folder)
        #expect(later.count == 1)
        #expect(try await get(server.url, later) == Data("body".utf8) && server.requests.count == 1)
        for url in try files + [key, lock, folder] {
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == (url == folder ? 0o700 : 0o600))
        }
        later.deleteAll()
        #expect(try files.isEmpty)
    }

    @Test func `one cache uses a folder at a time, and the next one once it is released`() async throws {
        var cache: ResponseCache? = try ResponseCache(folder: folder)
        let error = #expect(throws: ResponseCacheError.self) { try ResponseCache(folder: folder) }
        #expect(error?.code == .folderInUse && error?.description.contains("use that cache") == true)
        #expect(cache?.count == 0)
        cache = nil
        #expect(throws: Never.self) { try ResponseCache(folder: folder) }
    }

    @Test func `a child that was started meanwhile does not keep the folder locked`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var lock: CacheFolderLock? = try CacheFolderLock(in: folder)
        // Until it executes its program, a child shares the open file as a duplicate of its descriptor does.
        let childs = dup(try #require(lock).descriptor)
        defer { close(childs) }
        #expect(childs >= 0)
        lock = nil
        #expect(throws: Never.self) { try CacheFolderLock(in: folder) }
    }

    @Test func `a cache does not use a folder whose lock is a link`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: place.url)
        let error = #expect(throws: ResponseCacheError.self) { try ResponseCache(folder: folder) }
        #expect(error?.code == .folderUnusable)
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
        do {
            let cache = try ResponseCache(folder: folder)
            for number in 0..<20 { _ = try await get(server.url.appendingPathComponent("\(number)"), cache) }
        }
        #expect(try files.count == 20)
        #expect(try ResponseCache(folder: folder, limits: .of(entries: 10)).count <= 10)
        #expect(try files.count <= 10)
    }

    @Test func `a damaged file does not remove the other responses of its URL`() async throws {
        let cache = try ResponseCache(folder: folder)
        let get = CachedExchange(cache, ManualTimeSource()) { request, _ in
            let language = Data("in \(request.head.headers["Accept-Language"] ?? "")".utf8)
            return .scripted(200, ["Cache-Control": "max-age=3600", "Vary": "Accept-Language"], body: language)
        }
        for language in ["de", "en"] { _ = try await get(headers: ["Accept-Language": language]) }
        let german = try #require(
            try files.first { String(decoding: try Data(contentsOf: $0), as: UTF8.self).contains("in de") })
        try Data(contentsOf: german).dropLast().write(to: german)
        _ = try await get(headers: ["Accept-Language": "de"])
        #expect(get.requests.values.count == 3)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(get.requests.values.count == 3 && cache.count == 2)
        #expect(try files.count == 2)
    }

    @Test(arguments: [-1, 3, 5, -1_000_000, .min, .max])
    func `a file whose length is not that of its body is damaged`(length: Int) async throws {
        let server = try server()
        defer { server.stop() }
        _ = try await get(server.url, try ResponseCache(folder: folder))
        let file = try #require(try files.first)
        let parts = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        let record = try #require(parts.first?.split(separator: UInt8(ascii: " "), maxSplits: 1).last)
        let text = String(decoding: record, as: UTF8.self)
        let changed = Data(text.replacing(#""length":4"#, with: #""length":\#(length)"#).utf8)
        #expect(changed != record)
        try (Data("\(changed.checksum) ".utf8) + changed + Data("\nbody".utf8)).write(to: file)
        let cache = try ResponseCache(folder: folder)
        #expect(cache.count == 0 && cache.size == 0)
        #expect(try files.isEmpty)
    }
}
