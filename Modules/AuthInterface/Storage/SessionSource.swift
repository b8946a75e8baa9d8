/// Where a session can be read and not changed: all that a follower needs of a store (G29).
///
/// Every ``SharedTokenStore`` is one. A follower gets one that does not hold the refresh token: a file, an item or a
/// table of its own, into which the owner publishes, or a source of the application.
public protocol SessionSource: Sendable {
    /// Reads the session, or the tombstone of an ended one.
    ///
    /// - Returns: What is stored; `.empty` only if it is certain that no session has been stored.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *unavailable now* and signs no user out (G14).
    func read() async throws -> StoredSession

    /// Reports that the session may have changed, by this process or another one.
    ///
    /// Each access makes a new stream, which keeps the newest report only: every write after the access is reported.
    /// The access does not wait: what a stream misses before it is open, its first report stands for. A report without
    /// a change does no harm. A stream that ends means that the source cannot watch for changes now; the reader then
    /// polls, and accesses the stream again after each pause. A source that never can returns one that has ended.
    var changes: AsyncStream<Void> { get }
}
