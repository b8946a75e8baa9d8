import ConcurrencyPrimitives
public import Foundation
public import NetworkCore
public import NetworkRecording

/// A transport that serves the responses of a HAR file, recorded by a browser or by `HARRecorder`.
///
/// ```swift
/// let transport = try HARReplayer(contentsOf: file) { XCTFail("\($0)", file: $0.file, line: $0.line) }
/// ```
///
/// A request is served by the first entry of its method, path and query that has not been used; when all have been, by
/// the last of them. Scheme and host are not compared, nor the values of query items that were redacted. A request
/// without an entry is an issue.
public final class HARReplayer: HTTPTransport {
    private struct Key: Hashable {
        let method: String
        let path: String

        init(_ method: String, _ url: String) {
            self.method = method
            path = URLComponents(string: url)?.percentEncodedPath ?? url
        }
    }

    private struct State {
        var unused: [Key: [HTTPArchive.Entry]]
        var used: [Key: [HTTPArchive.Entry]] = [:]
        var requests: [SentRequest] = []
    }

    private let state: Locked<State>
    private let place: StubPlace
    private let onIssue: StubIssue.Handler

    /// Creates a transport. The exchanges without a response are errors of the transport.
    public init(
        _ archive: HTTPArchive,
        file: StaticString = #filePath,
        line: UInt = #line,
        onIssue: @escaping StubIssue.Handler
    ) {
        state = Locked(
            State(unused: Dictionary(grouping: archive.log.entries) { Key($0.request.method, $0.request.url) }))
        place = StubPlace(file: file, line: line)
        self.onIssue = onIssue
    }

    /// Creates a transport from a HAR file.
    ///
    /// - Throws: The error of reading or decoding the file.
    public convenience init(
        contentsOf url: URL,
        file: StaticString = #filePath,
        line: UInt = #line,
        onIssue: @escaping StubIssue.Handler
    ) throws {
        self.init(try HTTPArchive(Data(contentsOf: url)), file: file, line: line, onIssue: onIssue)
    }

    /// The requests so far, in order, unexpected ones included.
    public var requests: [SentRequest] { state.withLock { $0.requests } }

    /// The entries that no request has used.
    public var leftoverCount: Int { state.withLock { $0.unused.values.reduce(0) { $0 + $1.count } } }

    /// Responds with the recorded response.
    ///
    /// - Throws: `HTTPTransportError` with code `unstubbed` when there is no entry, with code `connectionFailed` when
    ///   the entry has no response; `CancellationError` when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let sent = try await SentRequest(request)
        state.withLock { $0.requests.append(sent) }
        // A secret of the path is redacted in what was recorded.
        let shown = URL(string: Redaction(of: request).url(request.head.url)) ?? request.head.url
        guard let entry = entry(for: sent, request.head.url) ?? entry(for: sent, shown) else {
            let reason = "the archive has no entry for \(sent)"
            onIssue(StubIssue(reason, at: place))
            throw HTTPTransportError(.unstubbed, reason: reason)
        }
        guard entry.response.status > 0 else {
            throw HTTPTransportError(.connectionFailed, reason: "the recorded exchange has no response")
        }
        // The body is recorded after its coding was removed.
        let framing: Set = ["content-length", "content-encoding", "transfer-encoding"]
        let fields = entry.response.headers.filter {
            !framing.contains($0.name.lowercased()) && !$0.name.hasPrefix(":")
        }
        let head = HTTPResponseHead(
            status: entry.response.status, headers: HTTPHeaders(fields.map { ($0.name, $0.value) }),
            url: request.head.url)
        return HTTPTransportResponse(head: head, body: HTTPBody(entry.response.content.data ?? Data()))
    }

    private func entry(for sent: SentRequest, _ url: URL) -> HTTPArchive.Entry? {
        let key = Key(sent.method.rawValue, url.absoluteString)
        let query = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return state.withLock { state in
            if let index = state.unused[key]?.firstIndex(where: { $0.serves(query) }),
                let entry = state.unused[key]?.remove(at: index)
            {
                state.used[key, default: []].append(entry)
                return entry
            }
            return state.used[key]?.last { $0.serves(query) }
        }
    }
}

extension HTTPArchive.Entry {
    fileprivate func serves(_ query: [URLQueryItem]) -> Bool {
        let recorded = URLComponents(string: request.url)?.queryItems ?? []
        return recorded.count == query.count
            && zip(recorded, query).allSatisfy { recorded, item in
                recorded.name == item.name
                    && (recorded.value == item.value || recorded.value == Redaction.placeholder)
            }
    }
}
