import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

/// A download replaces a regular file and nothing else.
@Suite("Targets of downloads", .timeLimit(.minutes(10)))
struct DownloadTargetTests {
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
