import NIOConcurrencyHelpers
import NetworkCore

import struct Foundation.UUID

/// One call from its start to its end, as the waterfall draws it.
struct CallSpan: Hashable, Sendable {
    struct Attempt: Hashable, Sendable {
        let start: Duration
        var end: Duration?
        var status: Int?
        var problem: String?
        /// The pause after it, before the next one.
        var pause: Duration?
        var timings: NetworkTimings?
    }

    enum Phase: Hashable {
        /// Not started, or ended.
        case none
        /// Waiting for a token, before the first attempt or between two.
        case waiting
        /// In an attempt that will fail.
        case failing
        /// In an attempt that will succeed.
        case succeeding
    }

    let method: String
    /// The path relative to the base URL.
    let path: String
    let start: Duration
    var end: Duration?
    var attempts: [Attempt] = []
    var hasSucceeded = false
    /// The reason of a failure without a status.
    var problem: String?
    /// The call's identifier in events; `nil` for a call that was not recorded.
    var id: UUID?
    /// The bytes of the body that was read.
    var bytes: Int?

    var isRefresh: Bool { method == "POST" && ["auth/refresh", "oauth2/token"].contains(path) }

    /// The statuses of all attempts in order: `401 → 200`.
    var outcome: String {
        let statuses = attempts.compactMap { $0.status.map(String.init) }
        return (statuses + (problem.map { [$0] } ?? [])).joined(separator: " → ")
    }

    func phase(at instant: Duration) -> Phase {
        guard start <= instant, end.map({ instant < $0 }) ?? true else { return .none }
        guard let index = attempts.lastIndex(where: { $0.start <= instant }) else { return .waiting }
        let isLast = index == attempts.count - 1
        if let end = attempts[index].end, end <= instant, !isLast { return .waiting }
        return isLast && hasSucceeded ? .succeeding : .failing
    }
}

extension CallSpan {
    /// Assembles calls from events, in the order of their start. A call without an end is still under way. The base URL
    /// is removed from URLs.
    static func spans(of events: [NetworkEvent], baseURL: String) -> [CallSpan] {
        var spans: [CallSpan] = []
        var indices: [UUID: Int] = [:]
        for event in events {
            if let index = indices[event.id] {
                spans[index].note(event)
            } else {
                indices[event.id] = spans.count
                spans.append(CallSpan(event, baseURL: baseURL))
                spans[spans.count - 1].note(event)
            }
        }
        return spans.sorted { $0.start < $1.start }
    }

    private init(_ event: NetworkEvent, baseURL: String) {
        let url = event.request.url.prefix { $0 != "?" }
        let base = baseURL.hasSuffix("/") ? baseURL : baseURL + "/"
        method = event.request.method.rawValue
        path = String(url.hasPrefix(base) ? url.dropFirst(base.count) : url)
        start = event.uptime
        id = event.id
    }

    private mutating func note(_ event: NetworkEvent) {
        let status = event.kind.status
        switch event.kind.name {
        case .sent:
            attempts.append(Attempt(start: event.uptime))
        case .responded, .retrying:
            endAttempt(event, status: status)
        case .succeeded:
            bytes = event.kind.bytes
            endAttempt(event, status: status)
            hasSucceeded = true
            end = event.uptime
        case .failed:
            endAttempt(event, status: status)
            if status == nil { problem = event.kind.code?.rawValue }
            end = event.uptime
        case .cancelled:
            problem = "cancelled"
            end = event.uptime
        default:
            break
        }
    }

    private mutating func endAttempt(_ event: NetworkEvent, status: Int?) {
        guard let last = attempts.indices.last else { return }
        attempts[last].status = status ?? attempts[last].status
        attempts[last].end = attempts[last].end ?? event.uptime
        attempts[last].problem = event.kind.code?.rawValue ?? attempts[last].problem
        attempts[last].pause = event.kind.pause ?? attempts[last].pause
        attempts[last].timings = event.timings ?? attempts[last].timings
    }
}

/// Records the network's events for the waterfall.
final class EventRecorder: NetworkObserver {
    /// The most events that are kept. What comes after them is not drawn.
    static let limit = 100_000

    private let recorded = NIOLockedValueBox<[NetworkEvent]>([])

    func receive(_ event: NetworkEvent) {
        recorded.withLockedValue { if $0.count < Self.limit { $0.append(event) } }
    }

    var events: [NetworkEvent] { recorded.withLockedValue { $0 } }
}
