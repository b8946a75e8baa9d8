public import AuthInterface
import ConcurrencyPrimitives
public import Foundation
import NetworkCore

/// The responses that a ``CachingTransport`` keeps, in memory or in a folder, each for one session.
///
/// A session's responses are served to that session only, and are deleted at its end:
///
/// ```swift
/// let cache = ResponseCache()
/// Task { await cache.deleteResponses(atEndOf: session) }
/// ```
///
/// A cache that deletes so is for one signed-in session at a time: a sign-in deletes the responses of all others.
///
/// For a start without a network, ``network(of:configuration:policy:interceptors:clock:)`` serves what is kept.
///
/// It keeps a limited number of bytes and responses. The one that was not used for the longest time is removed first.
public final class ResponseCache: Sendable {
    /// The limits of a cache.
    public struct Limits: Sendable, Hashable {
        /// The most bytes of all responses: 32 MiB.
        public var maximumBytes = 32 * 1_024 * 1_024

        /// The most responses.
        public var maximumEntries = 1_000

        /// The largest response that is kept, in bytes: 4 MiB.
        public var maximumEntrySize = 4 * 1_024 * 1_024

        /// Creates the standard limits.
        public init() {}
    }

    /// The most ended sessions that are remembered. The one that ended first is forgotten first.
    static let maximumEndedSessions = 64

    private struct Entry {
        let record: CachedResponse.Record
        /// `nil`: it is in a file.
        let response: CachedResponse?
        let file: URL?
        let receivedUptime: Duration?
        var lastUse: Int
    }

    private struct State {
        var entries: [CachedResponse.Key: [Entry]] = [:]
        var bytes = 0
        var count = 0
        var uses = 0
        /// Changes when a session ends or a URL is invalidated: what is under way then is not stored.
        private(set) var epoch = 0
        /// The session that goes on where others have ended, and the first epoch whose responses it may store.
        private var current: (session: String, since: Int)?
        /// The sessions that have ended, the last one last. An exchange may start after the end of the session whose
        /// token it carries, as one does that follows a redirect.
        var endedSessions: [String] = []

        /// Whether a response may be stored that was requested in an epoch.
        func accepts(_ key: CachedResponse.Key, _ epoch: Int) -> Bool {
            let first = current.flatMap { $0.session == key.session ? $0.since : nil } ?? self.epoch
            return epoch >= first && !(key.session.map(endedSessions.contains) ?? false)
        }

        /// Refuses what is under way, but for the requests of one session.
        mutating func refuseUnderWay(except session: String? = nil) {
            if session == nil || session != current?.session { current = session.map { ($0, epoch) } }
            epoch += 1
        }
    }

    private let state = Locked(State())
    private let files: CacheFolder?
    /// Hides the URLs and fields of requests.
    let hash: KeyedHash

    /// The limits of the cache.
    public let limits: Limits

    /// Creates a cache in memory.
    public init(limits: Limits = Limits()) {
        files = nil
        hash = KeyedHash()
        self.limits = limits
    }

    /// Creates a cache in a folder, whose files are readable by this user only.
    ///
    /// One cache uses a folder at a time, of this process and all others: it holds a lock until it is released.
    ///
    /// What cannot be read there is deleted. Of requests the files hold digests only, with a random key that is kept in
    /// the folder. Responses are as the server sent them.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is created if it does not exist, with mode 0700. It must hold nothing else.
    ///   - limits: The limits of the cache.
    /// - Throws: ``ResponseCacheError`` with code `folderInUse` if another cache uses the folder. Use that cache or one
    ///   in memory: `(try? ResponseCache(folder: folder)) ?? ResponseCache()`. Otherwise the error of creating the
    ///   folder, its lock or its key.
    public init(folder: URL, limits: Limits = Limits()) throws {
        let files = try CacheFolder(folder)
        self.files = files
        hash = files.hash
        self.limits = limits
        let found = files.records()
        state.withLock { state in
            for (url, record) in found {
                let entry = Entry(record: record, response: nil, file: url, receivedUptime: nil, lastUse: 0)
                Self.add(entry, to: &state)
            }
        }
        evict()
    }

    /// The bytes of all responses.
    public var size: Int { state.withLock { $0.bytes } }

    /// The number of responses.
    public var count: Int { state.withLock { $0.count } }

    /// Deletes the responses of a session. What is under way is not stored.
    public func deleteResponses(of session: SessionID) {
        remove(refusesUnderWay: true) { $0.session == session.rawValue }
    }

    /// Deletes the responses of all sessions. Those to requests without a token stay. What is under way is not stored.
    public func deleteResponsesOfSessions() {
        remove(refusesUnderWay: true) { $0.session != nil }
    }

    /// Deletes everything.
    public func deleteAll() {
        remove(refusesUnderWay: true) { _ in true }
    }

    /// Deletes the responses of sessions that have ended, until the task is cancelled or the session object is
    /// released.
    ///
    /// When the session ends, the responses of all sessions are deleted. When a sign-in replaces it, and at the first
    /// sign-in, those of all other sessions are. Responses to requests without a token stay. What is under way is not
    /// stored, but for the requests of the session that is signed in. Nor is any later response to a request that
    /// carries a token of a session that ended here. No other session object may use the cache.
    public func deleteResponses(atEndOf session: any AuthSession) async {
        var current: SessionID?
        for await state in session.states {
            switch state {
            case .unknown: break
            case .signedIn(let id) where id == current: break
            case .signedIn(let id):
                end(current, before: id)
                current = id
            case .signedOut:
                end(current, before: nil)
                current = nil
            }
        }
    }

    /// Deletes the responses of all sessions but one, and remembers that a session has ended.
    private func end(_ ended: SessionID?, before next: SessionID?) {
        state.withLock { state in
            state.endedSessions.removeAll { $0 == next?.rawValue || $0 == ended?.rawValue }
            if let ended { state.endedSessions.append(ended.rawValue) }
            if state.endedSessions.count > Self.maximumEndedSessions { state.endedSessions.removeFirst() }
            state.refuseUnderWay(except: next?.rawValue)
        }
        remove { $0.session != nil && $0.session != next?.rawValue }
    }
}

// What the transport uses.
extension ResponseCache {
    var epoch: Int { state.withLock { $0.epoch } }

    /// The most recent response that serves a request, fresh or not (RFC 9111 §4).
    func response(for key: CachedResponse.Key, to request: HTTPTransportRequest) -> CachedResponse? {
        let entry = state.withLock { state -> Entry? in
            let entries = state.entries[key] ?? []
            let matches = entries.indices.filter { CachedResponse.selects(entries[$0].record, request, hash: hash) }
            // Of equal dates, the one that was stored later.
            let newest = matches.max {
                (entries[$0].record.receivedAt, $0) < (entries[$1].record.receivedAt, $1)
            }
            guard let newest else { return nil }
            state.uses += 1
            state.entries[key]?[newest].lastUse = state.uses
            return entries[newest]
        }
        guard let entry else { return nil }
        if let response = entry.response { return response }
        guard let file = entry.file, let body = files?.body(of: entry.record, in: file) else {
            // Another task may have stored a response since: its file is another one.
            remove(key) { $0.file == entry.file }
            return nil
        }
        return CachedResponse(record: entry.record, body: body, receivedUptime: entry.receivedUptime)
    }

    /// Keeps a response in place of the one that serves the same requests, unless its session has ended, or a session
    /// has ended or a URL was invalidated since the epoch in which the request was sent.
    func store(_ response: CachedResponse, epoch: Int) {
        guard response.size <= min(limits.maximumEntrySize, limits.maximumBytes), limits.maximumEntries > 0,
            state.withLock({ $0.accepts(response.record.key, epoch) })
        else { return }
        let file = files.flatMap { $0.write(response) }
        guard files == nil || file != nil else { return }
        let replaced = state.withLock { state -> [URL] in
            guard state.accepts(response.record.key, epoch) else { return file.map { [$0] } ?? [] }
            let replaced = Self.take(from: &state, response.record.key) {
                $0.record.selecting == response.record.selecting
            }
            state.uses += 1
            let entry = Entry(
                record: response.record,
                response: file == nil ? response : nil,
                file: file,
                receivedUptime: response.receivedUptime,
                lastUse: state.uses
            )
            Self.add(entry, to: &state)
            return replaced
        }
        files?.delete(replaced)
        evict()
    }

    /// Deletes the responses of a URL, of all sessions: an unsafe request may have changed it. What is under way may be
    /// older than the change, and is not stored.
    func invalidate(_ url: URL) {
        let url = CachedResponse.Key.url(url, hash: hash)
        remove(refusesUnderWay: true) { $0.url == url }
    }

    /// Deletes all responses of a key.
    func remove(_ key: CachedResponse.Key) {
        remove { $0 == key }
    }

    /// Deletes the responses of a key that serve a request.
    func remove(_ key: CachedResponse.Key, serving request: HTTPTransportRequest) {
        remove(key) { CachedResponse.selects($0.record, request, hash: hash) }
    }

    /// Deletes the response of a key that selects by these fields.
    func remove(_ key: CachedResponse.Key, selecting: [String: String]) {
        remove(key) { $0.record.selecting == selecting }
    }

    private func remove(_ key: CachedResponse.Key, where isSelected: (Entry) -> Bool) {
        let removed = state.withLock { Self.take(from: &$0, key, where: isSelected) }
        files?.delete(removed)
    }

    private func remove(refusesUnderWay: Bool = false, where isSelected: (CachedResponse.Key) -> Bool) {
        let removed = state.withLock { state -> [URL] in
            if refusesUnderWay { state.refuseUnderWay() }
            return state.entries.keys.filter(isSelected).flatMap { Self.take(from: &state, $0) { _ in true } }
        }
        files?.delete(removed)
    }

    /// Removes entries where there are too many, the newest one only if it is too large by itself.
    private func evict() {
        let removed = state.withLock { state -> [URL] in
            let isOver = { (state: State) in
                state.bytes > self.limits.maximumBytes || state.count > self.limits.maximumEntries
            }
            guard isOver(state) else { return [] }
            // In one pass down to nine tenths, so that the next responses need none.
            let bytes = limits.maximumBytes - limits.maximumBytes / 10
            let count = limits.maximumEntries - limits.maximumEntries / 10
            let oldest = state.entries.values.joined().sorted {
                ($0.lastUse, $0.record.receivedAt) < ($1.lastUse, $1.record.receivedAt)
            }
            var removed: [URL] = []
            for (index, entry) in oldest.enumerated() {
                let isNewest = index == oldest.count - 1
                guard isOver(state) || (!isNewest && (state.bytes > bytes || state.count > count)) else { break }
                removed += Self.take(from: &state, entry.record.key) {
                    $0.record.selecting == entry.record.selecting
                }
            }
            return removed
        }
        files?.delete(removed)
    }

    private static func add(_ entry: Entry, to state: inout State) {
        state.entries[entry.record.key, default: []].append(entry)
        state.bytes += CachedResponse.size(of: entry.record)
        state.count += 1
    }

    /// Takes entries out.
    ///
    /// - Returns: Their files.
    private static func take(
        from state: inout State, _ key: CachedResponse.Key, where isSelected: (Entry) -> Bool
    ) -> [URL] {
        guard let entries = state.entries[key] else { return [] }
        let taken = entries.filter(isSelected)
        let kept = entries.filter { !isSelected($0) }
        state.entries[key] = kept.isEmpty ? nil : kept
        state.bytes -= taken.reduce(0) { $0 + CachedResponse.size(of: $1.record) }
        state.count -= taken.count
        return taken.compactMap(\.file)
    }
}
