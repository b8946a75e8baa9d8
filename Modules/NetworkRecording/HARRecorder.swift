import ConcurrencyPrimitives
import Foundation
public import NetworkCore

/// Records exchanges as HAR 1.2, for the developer tools of a browser: a transport around another transport.
///
/// ```swift
/// let recorder = HARRecorder(AsyncHTTPClientTransport())
/// let client = NetworkClient(baseURL: url, transport: recorder)
/// …
/// try recorder.archive.encoded().write(to: file)
/// ```
///
/// Secrets are redacted: by their value, where the call carried them, by name and by shape (G17). A body is recorded
/// where it is within the limit, and JSON or a form; of a call without credentials also where it is other text. Of any
/// other body the media type, the length and a digest are in its `comment`. Where secrets of the call are not known, as
/// in a body of another format, no body is recorded, and of the response's fields only what looks like a name, a date
/// or a length. An exchange is in the archive when its body has ended or was released.
public final class HARRecorder: HTTPTransport {
    private struct State {
        var entries: [Int: HTTPArchive.Entry] = [:]
        var lastNumber = 0
    }

    private let next: any HTTPTransport
    private let maximumEntries: Int
    private let maximumBodySize: Int
    private let state = Locked(State())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - next: The transport of the exchanges.
    ///   - maximumEntries: The most exchanges. The oldest is removed first.
    ///   - maximumBodySize: The most bytes of a body that are recorded: by default 256 KiB.
    public init(_ next: any HTTPTransport, maximumEntries: Int = 1_000, maximumBodySize: Int = 256 * 1_024) {
        self.next = next
        self.maximumEntries = max(1, maximumEntries)
        self.maximumBodySize = maximumBodySize
    }

    /// The exchanges that have ended, in the order in which they started.
    public var archive: HTTPArchive {
        let entries = state.withLock { $0.entries }
        return HTTPArchive(entries: entries.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Removes all exchanges.
    public func removeAll() { state.withLock { $0.entries = [:] } }

    /// Performs a request and records it.
    ///
    /// - Throws: As the transport underneath.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let recording = HARRecording(of: request, limit: maximumBodySize) { [weak self] in self?.add($0, number) }
        do {
            var response = try await next.perform(request)
            recording.receive(response.head)
            response.body = response.body.observed { result in
                switch result {
                case .success(let piece?): recording.receive(piece)
                case .success(nil): recording.finish(nil)
                case .failure(let error): recording.finish(error)
                }
            }
            return response
        } catch {
            recording.finish(error)
            throw error
        }
    }

    /// Whether the transport underneath does.
    public var endsInTime: Bool { next.endsInTime }

    private func add(_ entry: HTTPArchive.Entry, _ number: Int) {
        state.withLock { state in
            state.entries[number] = entry
            if state.entries.count > maximumEntries, let oldest = state.entries.keys.min() {
                state.entries[oldest] = nil
            }
        }
    }
}

/// One exchange under way. It ends with its body, or when that is released.
private final class HARRecording: Sendable {
    private struct State {
        var entry: HTTPArchive.Entry
        var headAt: Duration?
        var contentType: String?
        var body = Data()
        var received = 0
        var isEnded = false
    }

    private let redaction: Redaction
    private let clock: any TimeSource
    private let startedAt: Duration
    private let limit: Int
    private let state: Locked<State>
    private let done: @Sendable (HTTPArchive.Entry) -> Void

    init(of request: HTTPTransportRequest, limit: Int, done: @escaping @Sendable (HTTPArchive.Entry) -> Void) {
        redaction = Redaction(of: request)
        clock = request.context.clock
        startedAt = clock.uptime
        self.limit = limit
        self.done = done
        let date = clock.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let entry = HTTPArchive.Entry(startedDateTime: date, request: redaction.archived(request, limit: limit))
        state = Locked(State(entry: entry))
    }

    deinit { finish(CancellationError()) }

    func receive(_ head: HTTPResponseHead) {
        let now = clock.uptime
        state.withLock { state in
            state.headAt = now
            state.contentType = head.headers.values(of: "Content-Type").first
            state.entry.response = redaction.archived(head)
        }
    }

    func receive(_ piece: Data) {
        state.withLock { state in
            state.received += piece.count
            if state.received <= limit { state.body.append(piece) }
        }
    }

    /// Ends the recording, once.
    func finish(_ error: (any Error)?) {
        let now = clock.uptime
        let entry = state.withLock { state -> HTTPArchive.Entry? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            let headAt = state.headAt ?? now
            state.entry.time = (now - startedAt) / .milliseconds(1)
            state.entry.timings.wait = (headAt - startedAt) / .milliseconds(1)
            state.entry.timings.receive = (now - headAt) / .milliseconds(1)
            state.entry.response.bodySize = state.received
            state.entry.response.content.size = state.received
            if state.received > 0 {
                let text = state.received <= limit ? redaction.body(state.body, contentType: state.contentType) : nil
                state.entry.response.content.text = text
                if text == nil {
                    state.entry.response.content.comment = redaction.fingerprint(
                        of: state.body, length: state.received, contentType: state.contentType)
                }
            }
            if let error { state.entry.comment = text(of: error) }
            return state.entry
        }
        if let entry { done(entry) }
    }

    private func text(of error: any Error) -> String {
        switch error {
        case let error as HTTPTransportError: redaction.text("\(error)")
        case is CancellationError: "cancelled"
        // The text of an error of another module may contain a secret.
        default: "\(type(of: error))"
        }
    }
}

extension Redaction {
    fileprivate func archived(_ request: HTTPTransportRequest, limit: Int) -> HTTPArchive.Request {
        var archived = HTTPArchive.Request(
            method: request.head.method.rawValue, url: url(request.head.url, of: request.context.message))
        archived.headers = request.head.headers.map {
            HTTPArchive.Pair(name: $0.name, value: fieldValue($0.value, named: $0.name))
        }
        let query = URLComponents(string: archived.url)?.queryItems ?? []
        archived.queryString = query.map { HTTPArchive.Pair(name: $0.name, value: $0.value ?? "") }
        archived.bodySize = request.body.length.map { Int(clamping: $0) } ?? -1
        if let data = request.body.data, !data.isEmpty {
            let type = request.head.headers["Content-Type"] ?? ""
            let text = data.count <= limit ? body(data, contentType: type) : nil
            let comment = text == nil ? fingerprint(of: data, length: data.count, contentType: type) : nil
            archived.postData = HTTPArchive.PostData(mimeType: type, text: text ?? "", comment: comment)
        }
        return archived
    }

    fileprivate func archived(_ head: HTTPResponseHead) -> HTTPArchive.Response {
        var archived = HTTPArchive.Response(status: head.status)
        archived.headers = head.headers.map {
            HTTPArchive.Pair(name: identifier($0.name), value: responseFieldValue($0.value, named: $0.name))
        }
        archived.content.mimeType =
            head.headers.values(of: "Content-Type").first.map {
                responseFieldValue($0, named: "Content-Type")
            } ?? ""
        archived.redirectURL = head.headers["Location"].map { responseFieldValue($0, named: "Location") } ?? ""
        return archived
    }
}
