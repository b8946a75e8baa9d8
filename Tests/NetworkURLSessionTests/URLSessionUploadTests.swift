#if canImport(FoundationNetworking)
import ContractTesting
import Foundation
import NetworkCore
import Testing
import TestSupport

@testable import NetworkURLSession

@Suite("URLSessionUpload", .timeLimit(.minutes(10)))
struct URLSessionUploadTests {
    @Test func `a sequence is in a file that only this user can read, until it is discarded`() async throws {
        let content = Data("sequence".utf8)
        let body = HTTPBody { content.pieces }
        let upload = try await URLSessionUpload(body, within: nil, DeadlineQueue(clock: ManualTimeSource()))
        guard case .file(let url, _, 8, isTemporary: true) = upload else {
            Issue.record("the sequence is in no temporary file: \(upload)")
            return
        }
        #expect(try Data(contentsOf: url) == content)
        let permissions = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
        #expect(permissions?.intValue == 0o600)
        upload.discard()
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `a file of the caller's is not discarded`() async throws {
        let file = try TemporaryFile(Data("kept".utf8))
        let deadlines = DeadlineQueue(clock: ManualTimeSource())
        let upload = try await URLSessionUpload(HTTPBody(file: file.url), within: nil, deadlines)
        upload.discard()
        #expect(FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test func `a sequence that does not end is waited for until the time limit`() async throws {
        let clock = ManualTimeSource()
        let body = HTTPBody { AsyncStream<Data> { _ in } }
        let deadlines = DeadlineQueue(clock: clock, grace: .zero)
        let upload = Task { try await URLSessionUpload(body, within: .seconds(5), deadlines) }
        try await clock.advance(by: .seconds(5), whenAsleep: 1)
        let error = await #expect(throws: HTTPTransportError.self) { _ = try await upload.value }
        #expect(error?.code == .timedOut && error?.waitedFor == .requestBody)
    }
}
#endif
