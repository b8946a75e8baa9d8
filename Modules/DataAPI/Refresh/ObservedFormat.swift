import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// Reads the responses of one call as another format does, and keeps the last one, so that a verdict can look at its
/// status and body. Make one for each call.
final class ObservedFormat: ResponseFormat {
    private struct State {
        var status: Int?
        var refused: RefusedBody?
    }

    private let base: any ResponseFormat
    private let state = Locked(State())

    init(_ base: any ResponseFormat) {
        self.base = base
    }

    /// The status of the last response that was read.
    var status: Int? { state.withLock { $0.status } }

    /// The body of the last response that was not a success; `nil` when there was none.
    var refused: RefusedBody? { state.withLock { $0.refused } }

    func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value {
        note(response, isRefused: false)
        do {
            return try base.value(type, from: response, using: decoder)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        note(response, isRefused: false)
        do {
            try base.check(response, using: decoder)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        note(response, isRefused: true)
        return base.failure(from: response, using: decoder)
    }

    private func note(_ response: HTTPResponse, isRefused: Bool) {
        let refused = isRefused ? RefusedBody(response) : nil
        state.withLock { $0 = State(status: response.status, refused: refused) }
    }
}
