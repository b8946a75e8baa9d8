import Foundation
import NetworkCore

/// The responses of a cache by their keys, and what may still be stored. A value, behind the lock of the cache.
struct ResponseTable {
    struct Entry {
        let record: CachedResponse.Record
        /// `nil`: it is in a file.
        let response: CachedResponse?
        let file: URL?
        let receivedUptime: Duration?
        fileprivate(set) var lastUse = 0
    }

    /// The most ended sessions that are remembered. The one that ended first is forgotten first.
    static let maximumEndedSessions = 64

    private var entries: [CachedResponse.Key: [Entry]] = [:]
    private(set) var bytes = 0
    private(set) var count = 0
    private var uses = 0
    /// Changes when a session ends or a URL is invalidated: what is under way then is not stored.
    private(set) var epoch = 0
    /// The session that goes on where others have ended, and the first epoch whose responses it may store.
    private var current: (session: String, since: Int)?
    /// The sessions that have ended, the last one last. An exchange may start after the end of the session whose
    /// token it carries, as one does that follows a redirect.
    private var endedSessions: [String] = []

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

    /// Remembers that a session has ended, and refuses what is under way of all sessions but the next one.
    mutating func end(_ ended: String?, before next: String?) {
        endedSessions.removeAll { $0 == next || $0 == ended }
        if let ended { endedSessions.append(ended) }
        if endedSessions.count > Self.maximumEndedSessions { endedSessions.removeFirst() }
        refuseUnderWay(except: next)
    }

    /// The most recent entry of a key that is selected. It counts as used.
    mutating func newest(_ key: CachedResponse.Key, where isSelected: (Entry) -> Bool) -> Entry? {
        let kept = entries[key] ?? []
        // Of equal dates, the one that was stored later.
        let newest = kept.indices.filter { isSelected(kept[$0]) }.max {
            (kept[$0].record.receivedAt, $0) < (kept[$1].record.receivedAt, $1)
        }
        guard let newest else { return nil }
        uses += 1
        entries[key]?[newest].lastUse = uses
        return kept[newest]
    }

    /// Adds the responses of a folder, which this process has not used yet.
    mutating func addUnused(_ entry: Entry) {
        entries[entry.record.key, default: []].append(entry)
        bytes += entry.record.size
        count += 1
    }

    /// Adds a response in place of the one that serves the same requests. Returns the files of what was replaced.
    mutating func replace(by entry: Entry) -> [URL] {
        let replaced = take(entry.record.key) { $0.record.selecting == entry.record.selecting }
        uses += 1
        var entry = entry
        entry.lastUse = uses
        addUnused(entry)
        return replaced
    }

    /// Takes entries of a key out. Returns their files.
    mutating func take(_ key: CachedResponse.Key, where isSelected: (Entry) -> Bool) -> [URL] {
        guard let all = entries[key] else { return [] }
        let taken = all.filter(isSelected)
        let kept = all.filter { !isSelected($0) }
        entries[key] = kept.isEmpty ? nil : kept
        bytes -= taken.reduce(0) { $0 + $1.record.size }
        count -= taken.count
        return taken.compactMap(\.file)
    }

    /// Takes all entries of some keys out. Returns their files.
    mutating func take(where isSelected: (CachedResponse.Key) -> Bool) -> [URL] {
        entries.keys.filter(isSelected).flatMap { take($0) { _ in true } }
    }

    /// Takes entries out where there are too many, the newest only if it is too large alone. Returns their files.
    mutating func evict(over limits: ResponseCache.Limits) -> [URL] {
        guard isOver(limits) else { return [] }
        // In one pass down to nine tenths, so that the next responses need none.
        let bytes = limits.maximumBytes - limits.maximumBytes / 10
        let count = limits.maximumEntries - limits.maximumEntries / 10
        let oldest = entries.values.joined().sorted {
            ($0.lastUse, $0.record.receivedAt) < ($1.lastUse, $1.record.receivedAt)
        }
        var removed: [URL] = []
        for (index, entry) in oldest.enumerated() {
            let isNewest = index == oldest.count - 1
            guard isOver(limits) || (!isNewest && (self.bytes > bytes || self.count > count)) else { break }
            removed += take(entry.record.key) { $0.record.selecting == entry.record.selecting }
        }
        return removed
    }

    private func isOver(_ limits: ResponseCache.Limits) -> Bool {
        bytes > limits.maximumBytes || count > limits.maximumEntries
    }
}
