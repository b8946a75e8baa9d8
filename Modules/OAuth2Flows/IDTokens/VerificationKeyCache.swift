import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// The keys of one server, fetched when a token needs them: by one call, however many wait for it.
final class VerificationKeyCache: Sendable {
    private struct State {
        var rule: KeySetState
        var call: Task<Void, any Error>?
    }

    private let location: URL
    private let network: any UnauthenticatedNetworkService
    private let state: Locked<State>

    init(_ location: URL, network: any UnauthenticatedNetworkService, _ rule: KeySetState) {
        self.location = location
        self.network = network
        state = Locked(State(rule: rule))
    }

    /// Whether keys fit a token. Where those that are here do not, newer ones may.
    ///
    /// - Throws: ``IDTokenError`` with code `keysUnavailable`; `CancellationError`.
    func haveKeys(on clock: any TimeSource, where fit: (VerificationKeySet) -> Bool) async throws -> Bool {
        var version: Int?
        var hasFetched = false
        while true {
            switch state.withLock({ $0.rule.keys(after: version, at: clock.uptime) }) {
            case .use(let keys, let newVersion):
                if fit(keys) { return true }
                guard !hasFetched else { return false }
                version = newVersion
            case .fetch:
                guard !hasFetched else { return false }
                try await fetch(on: clock)
                // What has just been fetched counts, however old it may be.
                (hasFetched, version) = (true, version ?? 0)
            case .none:
                return false
            }
        }
    }

    /// The keys that are here, however old.
    var known: VerificationKeySet? { state.withLock { $0.rule.known } }

    /// A token has named a key that is not here.
    func wantNewer() { state.withLock { $0.rule.wantsNewer = true } }

    /// Whether a check that must not wait is to be prepared by a fetch.
    func needsFetch(on clock: any TimeSource) -> Bool { state.withLock { $0.rule.needsFetch(at: clock.uptime) } }

    /// Fetches the keys, or waits for the call under way. A caller that is cancelled leaves it to the others.
    func fetch(on clock: any TimeSource) async throws {
        let call = state.withLock { state in
            if let call = state.call { return call }
            let call = Task {
                defer { self.state.withLock { $0.call = nil } }
                let start = clock.uptime
                let keys = try await self.read()
                self.state.withLock { $0.rule.receive(keys, at: start) }
            }
            state.call = call
            return call
        }
        let race = Race<Result<Void, any Error>>()
        Task { race.end(await call.result) }
        try await race.valueUnlessCancelled()
    }

    private func read() async throws -> VerificationKeySet {
        do {
            let call = Endpoint<HTTPResponse>.request(.get, .url(location)).withoutAuthentication()
                .redirects(.followWithinOrigin)
            let body = try await network.send(call).body
            guard body.count <= VerificationKeySet.maximumSize else {
                throw IDTokenError(
                    .keysUnavailable, reason: "the server's keys have more than \(VerificationKeySet.maximumSize) bytes"
                )
            }
            return try JSONDecoder().decode(VerificationKeySet.self, from: body)
        } catch let error as NetworkError {
            throw IDTokenError(.keysUnavailable, reason: "the server's keys: \(error)", cause: error)
        } catch is DecodingError {
            throw IDTokenError(.keysUnavailable, reason: "what the server has at jwks_uri is no set of keys")
        }
    }
}
