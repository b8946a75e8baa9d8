import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCaching

@Suite("ResponseCache in a folder", .timeLimit(.minutes(10)))
struct ResponseCacheFolderTests {
    let place = TemporaryFolder()
    let exchanges = StubTransport { _, _ in .scripted(200, ["Cache-Control": "max-age=3600"]) }

    var folder: URL { place.url.appendingPathComponent("cache") }
    var key: URL { folder.appendingPathComponent("key") }
    var lock: URL { folder.appendingPathComponent("lock") }
    var files: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { !["key", "lock"].contains($0.lastPathComponent) }
        }
    }

    /// Requests a path through a cache: by default one that a process opens at its start.
    @discardableResult
    func get(_ path: String = "x", through cache: ResponseCache? = nil) async throws -> Data {
        let transport = CachingTransport(exchanges, cache: try cache ?? ResponseCache(folder: folder))
        let url = url("https://a.example/\(path)")
        return try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: url))).body
            .collect(upTo: 1_000)
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
        try await get()
        let later = try ResponseCache(folder: folder)
        #expect(later.count == 1)
        #expect(try await get(through: later) == Data("body".utf8) && exchanges.requests.count == 1)
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
        try place.write("", to: "file")
        let file = place.url.appendingPathComponent("file")
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: file)
        let error = #expect(throws: ResponseCacheError.self) { try ResponseCache(folder: folder) }
        #expect(error?.code == .folderUnusable)
    }

    @Test func `a damaged file is a miss, and is deleted`() async throws {
        try await get()
        let file = try #require(try files.first)
        let whole = try Data(contentsOf: file)
        for index in stride(from: 0, to: whole.count, by: 7) {
            var damaged = whole
            damaged[index] ^= 1
            try damaged.write(to: file)
            let cache = try ResponseCache(folder: folder)
            #expect(try await get(through: cache) == Data("body".utf8))
            cache.deleteAll()
        }
        try whole.dropLast().write(to: file)
        let before = exchanges.requests.count
        #expect(try await get() == Data("body".utf8))
        #expect(exchanges.requests.count == before + 1)
    }

    @Test func `a folder that holds more than the limit is cut to it`() async throws {
        do {
            let cache = try ResponseCache(folder: folder)
            for number in 0..<20 { try await get("\(number)", through: cache) }
        }
        #expect(try files.count == 20)
        #expect(try ResponseCache(folder: folder, limits: .of(entries: 10)).count <= 10)
        #expect(try files.count <= 10)
    }

    @Test func `a damaged file does not remove the other responses of its URL`() async throws {
        let cache = try ResponseCache(folder: folder)
        let get = CachedExchange(cache, ManualTimeSource()) { request, _ in
            let language = Data("in \(request.headers["Accept-Language"] ?? "")".utf8)
            return .scripted(200, ["Cache-Control": "max-age=3600", "Vary": "Accept-Language"], body: language)
        }
        for language in ["de", "en"] { _ = try await get(headers: ["Accept-Language": language]) }
        let german = try #require(
            try files.first { String(decoding: try Data(contentsOf: $0), as: UTF8.self).contains("in de") })
        try Data(contentsOf: german).dropLast().write(to: german)
        _ = try await get(headers: ["Accept-Language": "de"])
        #expect(get.requests.count == 3)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(get.requests.count == 3 && cache.count == 2)
        #expect(try files.count == 2)
    }

    @Test(arguments: [-1, 3, 5, -1_000_000, .min, .max])
    func `a file whose length is not that of its body is damaged`(length: Int) async throws {
        try await get()
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
