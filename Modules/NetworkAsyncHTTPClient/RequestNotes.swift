#if AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import NIOHTTP1

/// What connections have to know of requests under way, and AsyncHTTPClient does not pass on: their trailer fields, and
/// the right to start them.
///
/// An exchange that has some adds a field with a number to its head. The handler on the connection removes that field,
/// asks for the right before it writes, and adds the trailers of that number to the end of the body.
final class RequestNotes: Sendable {
    struct Note {
        var trailers: NIOHTTP1.HTTPHeaders?
        let permit: StartPermit?
    }

    /// The name is random, so that no field of a caller can be taken for it.
    private let field = "latchkey-request-\(UInt64.random(in: 0...UInt64.max))"

    private struct State {
        var last = 0
        var notes: [Int: Note] = [:]
    }

    private let state = Locked(State())

    /// Keeps a note of a request.
    ///
    /// - Returns: The number of the request, until ``remove(_:)``, and the field that marks its head.
    func announce(_ note: Note) -> (number: Int, mark: (name: String, value: String)) {
        let number = state.withLock { state in
            state.last += 1
            state.notes[state.last] = note
            return state.last
        }
        return (number, (field, String(number)))
    }

    /// Sets the trailers of a request, before its body ends.
    func set(_ trailers: NIOHTTP1.HTTPHeaders, for number: Int) {
        state.withLock { $0.notes[number]?.trailers = trailers }
    }

    func remove(_ number: Int) {
        state.withLock { _ = $0.notes.removeValue(forKey: number) }
    }

    /// Takes the mark out of a head.
    ///
    /// - Returns: The number of the request; `nil` where there is no note of it.
    func take(from headers: inout NIOHTTP1.HTTPHeaders) -> Int? {
        guard let number = headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: field)
        return number
    }

    /// The note of a request. `nil`: its exchange has ended.
    func note(of number: Int) -> Note? { state.withLock { $0.notes[number] } }
}
#endif
