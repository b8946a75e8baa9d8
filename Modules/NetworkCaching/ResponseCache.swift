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

    private let table = Locked(ResponseTable())
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
        table.withLock { table in
            for (url, record) in found {
                table.addUnused(ResponseTable.Entry(record: record, response: nil, file: url, receivedUptime: nil))
            }
        }
        evict()
    }

    /// The bytes of all responses.
    public var size: Int { table.withLock { $0.bytes } }

    /// The number of responses.
    public var count: Int { table.withLock { $0.count } }

    /// Deletes the responses of a session. What is under way is not stored.
    public func deleteResponses(of session: SessionID) {
        remove(refusesUnderWay: true) { $0.session == session.rawValue }
    }

    /// Deletes the responses of all sessions. Those to requests without a token stay. What is under way is not stored.
    public func deleteResponsesOfSessions() { remove(refusesUnderWay: true) { $0.session != nil } }

    /// Deletes everything.
    public func deleteAll() { remove(refusesUnderWay: true) { _ in true } }

    /// Deletes the responses of sessions that have ended, until the task is cancelled or the session released.
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
        table.withLock { $0.end(ended?.rawValue, before: next?.rawValue) }
        remove { $0.session != nil && $0.session != next?.rawValue }
    }
}

// What the transport uses.
extension ResponseCache {
    var epoch: Int { table.withLock { $0.epoch } }

    /// The most recent response that serves a request, fresh or not (RFC 9111 §4).
    func response(for key: CachedResponse.Key, to request: HTTPTransportRequest) -> CachedResponse? {
        let entry = table.withLock { table in
            table.newest(key) { CachedResponse.selects($0.record, request, hash: hash) }
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
        guard response.record.size <= min(limits.maximumEntrySize, limits.maximumBytes), limits.maximumEntries > 0,
            table.withLock({ $0.accepts(response.record.key, epoch) })
        else { return }
        let file = files.flatMap { $0.write(response) }
        guard files == nil || file != nil else { return }
        let entry = ResponseTable.Entry(
            record: response.record, response: file == nil ? response : nil, file: file,
            receivedUptime: response.receivedUptime)
        let replaced = table.withLock { table -> [URL] in
            guard table.accepts(response.record.key, epoch) else { return file.map { [$0] } ?? [] }
            return table.replace(by: entry)
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

    /// Deletes the responses of a key, or some of them.
    func remove(_ key: CachedResponse.Key, where isSelected: (ResponseTable.Entry) -> Bool = { _ in true }) {
        let removed = table.withLock { $0.take(key, where: isSelected) }
        files?.delete(removed)
    }

    private func remove(refusesUnderWay: Bool = false, where isSelected: (CachedResponse.Key) -> Bool) {
        let removed = table.withLock { table in
            if refusesUnderWay { table.refuseUnderWay() }
            return table.take(where: isSelected)
        }
        files?.delete(removed)
    }

    private func evict() {
        let removed = table.withLock { $0.evict(over: limits) }
        files?.delete(removed)
    }
}
