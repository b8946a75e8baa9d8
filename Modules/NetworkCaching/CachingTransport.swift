import ConcurrencyPrimitives
import Foundation
public import NetworkCore

/// Keeps responses and serves them again: a private cache (RFC 9111) around another transport.
///
/// ```swift
/// let cache = ResponseCache()
/// let client = NetworkClient(baseURL: url, transport: CachingTransport(AsyncHTTPClientTransport(), cache: cache))
/// ```
///
/// It serves what is fresh, validates what is not (`ETag`, `Last-Modified`), and after an unsafe request forgets the
/// URL, also where it is under way. A response that cannot be kept removes the one that it replaces.
/// `stale-while-revalidate` and `stale-if-error` (RFC 5861) are followed, never in place of a 401 or 403. A 403 removes
/// what is kept. So does a 401, but not while a session waits for it: its token is replaced, and its end deletes.
///
/// **Sessions.** The session of the request's token, not the token, decides what is served: see ``ResponseCache``.
/// Other credentials count by their values, whether `Vary` names them or not. A request without a session passes by if
/// the name of one of its fields denotes a secret.
///
/// **Date.** A response that is served without contact to the server has an `Age` and no `Date`, because a date of the
/// past would set the clock by which tokens expire.
///
/// It passes by: methods other than `GET`, ranges, requests that are conditional already. It keeps only responses that
/// were read to their end.
public struct CachingTransport: HTTPTransport {
    let next: any HTTPTransport
    let cache: ResponseCache
    let revalidations = Locked<Set<CachedResponse.Key>>([])

    /// Creates a transport.
    public init(_ next: any HTTPTransport, cache: ResponseCache = ResponseCache()) {
        self.next = next
        self.cache = cache
    }

    /// Serves a response from the cache, or performs the request. With `only-if-cached` and none, its status is 504.
    ///
    /// - Throws: As the transport underneath.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        // Before the cache is asked: what a session's end deletes must not come back by a later revalidation.
        let epoch = cache.epoch
        let control = CacheControl(request.head.headers)
        guard request.isCacheable, !control.has("no-store") else { return try await performUnstored(request) }
        let key = CachedResponse.Key(of: request, hash: cache.hash)
        // What refused a token, in a response that may be kept, must not answer for the next one.
        let isAfterRefusal = request.context.attempt > request.context.retries + 1
        guard !isAfterRefusal, let kept = cache.response(for: key, to: request) else {
            guard !control.has("only-if-cached") else { return .gatewayTimeout(request) }
            let requestedAt = request.context.clock.date
            let response = try await next.perform(request)
            return keeping(response, of: request, key, epoch: epoch, requestedAt: requestedAt)
        }
        let freshness = Freshness(of: kept, now: request.context.clock.date, uptime: request.context.clock.uptime)
        if freshness.serves(control) { return kept.served(to: request, age: freshness.age) }
        guard !control.has("only-if-cached") else { return .gatewayTimeout(request) }
        if freshness.servesWhileRevalidating(control) {
            revalidateLater(kept, request, key, epoch: epoch)
            return kept.served(to: request, age: freshness.age)
        }
        let servesOnError = freshness.servesOnError(control)
        return try await revalidate(kept, request, key, epoch: epoch, servesOnError: servesOnError)
    }

    /// Whether the transport underneath does.
    public var endsInTime: Bool { next.endsInTime }

    private func performUnstored(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let response = try await next.perform(request)
        if !request.head.method.isSafe, (200..<400).contains(response.head.status) {
            cache.invalidate(request.head.url)
            for name in ["Location", "Content-Location"] {
                guard let text = response.head.headers.values(of: name).first,
                    let url = URL(reference: text, relativeTo: request.head.url)?.absoluteURL,
                    let origin = Origin(url), origin == Origin(request.head.url)
                else { continue }
                cache.invalidate(url)
            }
        }
        return response
    }

    /// Asks the server whether a kept response is still valid.
    private func revalidate(
        _ kept: CachedResponse, _ request: HTTPTransportRequest, _ key: CachedResponse.Key, epoch: Int,
        servesOnError: Bool
    ) async throws -> HTTPTransportResponse {
        let clock = request.context.clock
        let requestedAt = clock.date
        let response: HTTPTransportResponse
        do {
            response = try await next.perform(kept.conditional(request))
        } catch let error as HTTPTransportError where servesOnError {
            try Task.checkCancellation()
            guard [.connectionFailed, .timedOut, .transportFailed].contains(error.code) else { throw error }
            return kept.served(to: request, age: kept.age(clock))
        }
        switch response.head.status {
        case 304:
            var updated = kept
            updated.update(by: response.head, requestedAt: requestedAt, receivedAt: clock.date, uptime: clock.uptime)
            storeValidated(&updated, request, epoch: epoch)
            return updated.response(updated.headers, to: request)
        case let status where servesOnError && [500, 502, 503, 504].contains(status):
            return kept.served(to: request, age: kept.age(clock))
        default:
            return keeping(response, of: request, key, epoch: epoch, requestedAt: requestedAt)
        }
    }

    /// Stores a response with the fields of a 304, which may select by other fields, or forbid storing.
    private func storeValidated(_ response: inout CachedResponse, _ request: HTTPTransportRequest, epoch: Int) {
        let key = response.record.key
        let earlier = response.record.selecting
        guard response.head(request.head.url).isStorable,
            let selecting = CachedResponse.selecting(response.headers, of: request, hash: cache.hash)
        else { return cache.remove(key) { $0.record.selecting == earlier } }
        if selecting != earlier { cache.remove(key) { $0.record.selecting == earlier } }
        response.record.selecting = selecting
        cache.store(response, epoch: epoch)
    }

    /// Revalidates behind the response that was served, once at a time.
    private func revalidateLater(
        _ kept: CachedResponse, _ request: HTTPTransportRequest, _ key: CachedResponse.Key, epoch: Int
    ) {
        guard revalidations.withLock({ $0.insert(key).inserted }) else { return }
        var quiet = request
        quiet.onEvent = nil
        Task { [quiet] in
            defer { revalidations.withLock { _ = $0.remove(key) } }
            let response = try? await revalidate(kept, quiet, key, epoch: epoch, servesOnError: true)
            guard let response else { return }
            // No caller waits who could replace the token: the next request is sent.
            if response.head.status == 401 { cache.remove(key) }
            _ = try? await response.body.collect(upTo: cache.limits.maximumEntrySize)
        }
    }

    /// The response, which is stored when its body has been read to its end. If it cannot be, the one that it replaces
    /// is removed. One that refuses the request removes all of its key.
    private func keeping(
        _ response: HTTPTransportResponse, of request: HTTPTransportRequest, _ key: CachedResponse.Key, epoch: Int,
        requestedAt: Date
    ) -> HTTPTransportResponse {
        let clock = request.context.clock
        let head = response.head
        if head.refuses(request) { cache.remove(key) }
        let removeReplaced: @Sendable () -> Void = { [cache] in
            if head.replaces { cache.remove(key) { CachedResponse.selects($0.record, request, hash: cache.hash) } }
        }
        guard head.isStorable, let selecting = CachedResponse.selecting(head.headers, of: request, hash: cache.hash),
            (response.body.length ?? 0) <= cache.limits.maximumEntrySize
        else {
            removeReplaced()
            return response
        }
        let receivedAt = clock.date
        let receivedUptime = clock.uptime
        let store: @Sendable (Data) -> Void = { [cache] body in
            let length = head.headers.values(of: "Content-Length").first.flatMap { Int($0) }
            guard length == nil || length == body.count || head.headers["Content-Encoding"] != nil else { return }
            let record = CachedResponse.Record(
                key: key, selecting: selecting, status: head.status, fields: CachedResponse.stored(head.headers),
                requestedAt: requestedAt, receivedAt: receivedAt, length: body.count,
                checksum: body.checksum)
            cache.store(CachedResponse(record: record, body: body, receivedUptime: receivedUptime), epoch: epoch)
        }
        // `nil`: it was stored, or is too large.
        let content = Locked<Data?>(Data())
        var copy = response
        copy.body = response.body.observed { [limit = cache.limits.maximumEntrySize] result in
            switch result {
            case .success(let piece?):
                let isTooLarge = content.withLock { content in
                    content?.append(piece)
                    guard let size = content?.count, size > limit else { return false }
                    content = nil
                    return true
                }
                if isTooLarge { removeReplaced() }
            case .success(nil): if let whole = content.withLock({ $0.take() }) { store(whole) }
            case .failure: break
            }
        }
        return copy
    }
}
