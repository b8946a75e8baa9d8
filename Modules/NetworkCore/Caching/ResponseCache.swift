public import AuthInterface
import ConcurrencyPrimitives
public import Foundation

/// The responses that a ``CachingTransport`` keeps, in memory or in a folder, each for one session.
///
/// A session's responses are served to that session only, and are deleted at its end:
///
/// ```swift
/// let cache = ResponseCache()
/// Task { await cache.deleteResponses(atEndOf: session) }
/// ```
///
/// It keeps a limited number of bytes and responses. The one that was not used for the longest time is removed first.
public final class ResponseCache: Sendable {
    /// The default of the most bytes: 32 MiB.
    public static let defaultMaximumBytes = 32 * 1_024 * 1_024

    /// The default of the most responses.
    public static let defaultMaximumEntries = 1_000

    /// The default of the largest response: 4 MiB.
    public static let defaultMaximumEntrySize = 4 * 1_024 * 1_024

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
        /// Changes when responses are deleted for a session's end: what is under way then is not stored.
        var epoch = 0
    }

    private let state = Locked(State())
    private let files: CacheFolder?
    private let maximumBytes: Int
    private let maximumEntries: Int

    /// The largest response that is kept, in bytes.
    public let maximumEntrySize: Int

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - maximumBytes: The most bytes of all responses.
    ///   - maximumEntries: The most responses.
    ///   - maximumEntrySize: The largest response, in bytes.
    public init(
        maximumBytes: Int = defaultMaximumBytes,
        maximumEntries: Int = defaultMaximumEntries,
        maximumEntrySize: Int = defaultMaximumEntrySize
    ) {
        files = nil
        (self.maximumBytes, self.maximumEntries) = (maximumBytes, maximumEntries)
        self.maximumEntrySize = maximumEntrySize
    }

    /// Creates a cache in a folder, whose files are readable by this user only. One process uses a folder at a time.
    ///
    /// What cannot be read there is deleted.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is created if it does not exist, with mode 0700. It must hold nothing else.
    ///   - maximumBytes: The most bytes of all responses.
    ///   - maximumEntries: The most responses.
    ///   - maximumEntrySize: The largest response, in bytes.
    /// - Throws: The error of creating the folder.
    public init(
        folder: URL,
        maximumBytes: Int = defaultMaximumBytes,
        maximumEntries: Int = defaultMaximumEntries,
        maximumEntrySize: Int = defaultMaximumEntrySize
    ) throws {
        let files = try CacheFolder(folder)
        self.files = files
        (self.maximumBytes, self.maximumEntries) = (maximumBytes, maximumEntries)
        self.maximumEntrySize = maximumEntrySize
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
    ///
    /// - Parameter session: The session.
    public func deleteResponses(of session: SessionID) {
        remove(countsAsEnd: true) { $0.session == session.rawValue }
    }

    /// Deletes the responses of all sessions. Those to requests without a token stay. What is under way is not stored.
    public func deleteResponsesOfSessions() {
        remove(countsAsEnd: true) { $0.session != nil }
    }

    /// Deletes everything.
    public func deleteAll() {
        remove(countsAsEnd: true) { _ in true }
    }

    /// Deletes the responses of all sessions whenever a session ends, until the task is cancelled.
    ///
    /// - Parameter session: The session to watch.
    public func deleteResponses(atEndOf session: any AuthSession) async {
        for await state in session.states {
            if case .signedOut = state { deleteResponsesOfSessions() }
        }
    }
}

// What the transport uses.
extension ResponseCache {
    var epoch: Int { state.withLock { $0.epoch } }

    /// The response that serves a request, fresh or not.
    func response(for key: CachedResponse.Key, to request: HTTPRequestHead) -> CachedResponse? {
        let entry = state.withLock { state -> Entry? in
            guard let index = state.entries[key]?.firstIndex(where: { CachedResponse.selects($0.record, request) })
            else { return nil }
            state.uses += 1
            state.entries[key]?[index].lastUse = state.uses
            return state.entries[key]?[index]
        }
        guard let entry else { return nil }
        if let response = entry.response { return response }
        guard let file = entry.file, let body = files?.body(of: entry.record, in: file) else {
            remove { $0 == key }
            return nil
        }
        return CachedResponse(record: entry.record, body: body, receivedUptime: entry.receivedUptime)
    }

    /// Keeps a response in place of the one that serves the same requests, unless a session has ended since the epoch
    /// in which the request was sent.
    func store(_ response: CachedResponse, epoch: Int) {
        guard response.size <= min(maximumEntrySize, maximumBytes), maximumEntries > 0, epoch == self.epoch else {
            return
        }
        let file = files.flatMap { $0.write(response) }
        guard files == nil || file != nil else { return }
        let replaced = state.withLock { state -> [URL] in
            guard state.epoch == epoch else { return file.map { [$0] } ?? [] }
            let replaced = Self.take(from: &state, response.record.key) { $0.selecting == response.record.selecting }
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

    /// Deletes the responses of a URL, of all sessions: an unsafe request may have changed it.
    func invalidate(_ url: URL) {
        let url = CachedResponse.Key(session: nil, url: url).url
        remove { $0.url == url }
    }

    func remove(_ key: CachedResponse.Key) {
        remove { $0 == key }
    }

    private func remove(countsAsEnd: Bool = false, where isSelected: (CachedResponse.Key) -> Bool) {
        let removed = state.withLock { state -> [URL] in
            if countsAsEnd { state.epoch += 1 }
            return state.entries.keys.filter(isSelected).flatMap { Self.take(from: &state, $0) { _ in true } }
        }
        files?.delete(removed)
    }

    private func evict() {
        let removed = state.withLock { state -> [URL] in
            guard state.bytes > maximumBytes || state.count > maximumEntries else { return [] }
            // In one pass down to nine tenths, so that the next responses need none.
            let oldest = state.entries.values.joined().sorted { $0.lastUse < $1.lastUse }
            var removed: [URL] = []
            for entry in oldest {
                guard state.bytes > maximumBytes / 10 * 9 || state.count > maximumEntries / 10 * 9 else { break }
                guard state.bytes > maximumBytes || state.count > maximumEntries || !removed.isEmpty else { break }
                removed += Self.take(from: &state, entry.record.key) { $0.selecting == entry.record.selecting }
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
        from state: inout State, _ key: CachedResponse.Key, where isSelected: (CachedResponse.Record) -> Bool
    ) -> [URL] {
        guard let entries = state.entries[key] else { return [] }
        let taken = entries.filter { isSelected($0.record) }
        let kept = entries.filter { !isSelected($0.record) }
        state.entries[key] = kept.isEmpty ? nil : kept
        state.bytes -= taken.reduce(0) { $0 + CachedResponse.size(of: $1.record) }
        state.count -= taken.count
        return taken.compactMap(\.file)
    }
}
