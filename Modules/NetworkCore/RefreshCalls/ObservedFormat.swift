import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Reads the responses of one call as another format does, and keeps the status and the refused body of the last one.
///
/// A refresh handler decides by them what a failure means. Create one for each call.
package final class ObservedFormat: ResponseFormat {
    private struct State {
        var status: Int?
        var refused: RefusedBody?
    }

    private let base: any ResponseFormat
    private let state = Locked(State())

    package init(_ base: any ResponseFormat) {
        self.base = base
    }

    package var mediaTypes: [String] { base.mediaTypes }

    /// The status of the last response that was read.
    package var status: Int? { state.withLock { $0.status } }

    /// The body of the last response that was not a success; `nil` when there was none.
    package var refused: RefusedBody? { state.withLock { $0.refused } }

    package func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse
    ) throws -> Value {
        note(response, isRefused: false)
        do {
            return try base.value(type, from: response)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    package func check(_ response: HTTPResponse) throws {
        note(response, isRefused: false)
        do {
            try base.check(response)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    package func failure(from response: HTTPResponse) -> ErrorEnvelope? {
        note(response, isRefused: true)
        return base.failure(from: response)
    }

    private func note(_ response: HTTPResponse, isRefused: Bool) {
        let refused = isRefused ? RefusedBody(response) : nil
        state.withLock { $0 = State(status: response.status, refused: refused) }
    }
}
