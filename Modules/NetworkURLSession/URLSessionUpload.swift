import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkExchange

/// A body in a form that URLSession sends. On Linux, where a stream would go out in chunks without a length, a sequence
/// is read into a temporary file first: see ``URLSessionTransport``.
enum URLSessionUpload: Sendable {
    case none
    case data(Data)
    case file(URL, FileState?, size: Int64, isTemporary: Bool)
    case stream(HTTPBody)

    /// Prepares a body. Without a time limit, a sequence is read as long as it takes.
    ///
    /// - Throws: `HTTPTransportError` with code `encodingFailed` or `timedOut`; `CancellationError`.
    init(_ body: HTTPBody, within timeLimit: Duration?, _ deadlines: DeadlineQueue) async throws {
        if body.isEmpty {
            self = .none
        } else if let data = body.data {
            self = .data(data)
        } else if let file = body.file {
            self = .file(file, try? FileState(file), size: body.length ?? 0, isTemporary: false)
        } else {
            #if canImport(FoundationNetworking)
            // A sequence may not notice that it is cancelled.
            self = try await deadlines.limit(timeLimit.map { deadlines.clock.uptime + $0 }) {
                HTTPTransportError.waited(for: .requestBody, atMost: timeLimit ?? .zero)
            } dropped: {
                $0.discard()
            } _: {
                try await Self.temporaryFile(of: body)
            }
            #else
            self = .stream(body)
            #endif
        }
    }

    /// The body in a new file that only this user can read.
    private static func temporaryFile(of body: HTTPBody) async throws -> URLSessionUpload {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-body-\(UUID().uuidString)")
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
            throw HTTPTransportError(.encodingFailed, reason: "the temporary folder cannot be written to")
        }
        do {
            let file = try FileHandle(forWritingTo: url)
            defer { try? file.close() }
            var size: Int64 = 0
            for try await piece in body {
                try file.write(contentsOf: piece)
                size += Int64(piece.count)
            }
            return .file(url, nil, size: size, isTemporary: true)
        } catch {
            try? FileManager.default.removeItem(at: url)
            throw error is CancellationError ? error : HTTPTransportError(sending: error)
        }
    }

    /// The number of bytes of a file.
    var fileSize: Int64? { if case .file(_, _, let size, _) = self { size } else { nil } }

    /// Removes what was written for the exchange.
    func discard() {
        guard case .file(let url, _, _, isTemporary: true) = self else { return }
        // The system clears its temporary folder; a file that cannot be removed now does no harm.
        try? FileManager.default.removeItem(at: url)
    }

    /// How an exchange ended, which looks like a success or a timeout where the file was changed while it was sent.
    func end(_ error: (any Error)?) -> (any Error)? {
        guard case .file(let url, let start, let size, false) = self, error == nil || error is HTTPTransportError
        else { return error }
        let now = try? FileState(url)
        guard now != start || now?.size != size else { return error }
        return HTTPTransportError(.encodingFailed, reason: HTTPBodyError.changedFile.reason)
    }
}
