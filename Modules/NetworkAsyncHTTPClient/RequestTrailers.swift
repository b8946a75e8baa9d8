#if AsyncHTTPClient
import ConcurrencyPrimitives
import NIOHTTP1

/// The trailer fields of requests under way, for the connections that send them.
///
/// AsyncHTTPClient ends every request without trailers. An exchange that has some adds a field with a number to its
/// head. The handler on the connection removes that field, and adds the trailers of that number to the end of the body.
final class RequestTrailers: Sendable {
    /// The name is random, so that no field of a caller can be taken for it.
    private let field = "latchkey-trailers-\(UInt64.random(in: 0...UInt64.max))"

    private struct State {
        var last = 0
        var fields: [Int: NIOHTTP1.HTTPHeaders] = [:]
    }

    private let state = Locked(State())

    /// Makes room for the trailers of a request, and marks its head.
    ///
    /// - Returns: The number of the request, until ``remove(_:)``.
    func announce(in headers: inout NIOHTTP1.HTTPHeaders) -> Int {
        let number = state.withLock { state in
            state.last += 1
            state.fields[state.last] = [:]
            return state.last
        }
        headers.add(name: field, value: "\(number)")
        return number
    }

    /// Sets the trailers of a request, before its body ends.
    func set(_ fields: NIOHTTP1.HTTPHeaders, for number: Int) {
        state.withLock { state in
            if state.fields[number] != nil { state.fields[number] = fields }
        }
    }

    func remove(_ number: Int) {
        state.withLock { _ = $0.fields.removeValue(forKey: number) }
    }

    /// Takes the mark out of a head.
    ///
    /// - Returns: The number of the request; `nil` where it has no trailers.
    func take(from headers: inout NIOHTTP1.HTTPHeaders) -> Int? {
        guard let number = headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: field)
        return number
    }

    func fields(of number: Int) -> NIOHTTP1.HTTPHeaders? {
        state.withLock { $0.fields[number] }
    }
}
#endif
