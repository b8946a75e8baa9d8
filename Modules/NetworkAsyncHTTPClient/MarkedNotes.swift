#if AsyncHTTPClient
import ConcurrencyPrimitives
import NIOHTTP1

/// Notes of messages under way, for an exchange and the handler on its connection. AsyncHTTPClient passes a head from
/// one to the other, and nothing else: a field of the head has the number of the note. It does not leave the transport.
final class MarkedNotes<Note: Sendable>: Sendable {
    private struct State {
        var last = 0
        var notes: [Int: Note] = [:]
    }

    /// The name is random, so that no field of a caller or a server can be taken for it.
    let field = "latchkey-\(UInt64.random(in: 0...UInt64.max))"
    private let state = Locked(State())

    /// Keeps a note, until it is removed. Returns its number, and the field that marks a head.
    func add(_ note: Note) -> (number: Int, mark: (name: String, value: String)) {
        let number = state.withLock { state in
            state.last += 1
            state.notes[state.last] = note
            return state.last
        }
        return (number, (field, String(number)))
    }

    /// The note of a number. `nil`: it was removed, and cannot be set again.
    subscript(number: Int) -> Note? {
        get { state.withLock { $0.notes[number] } }
        set { state.withLock { if $0.notes[number] != nil { $0.notes[number] = newValue } } }
    }

    @discardableResult
    func remove(_ number: Int) -> Note? { state.withLock { $0.notes.removeValue(forKey: number) } }

    /// Takes the mark out of a head. Returns the number. `nil`: the head has no mark.
    func takeMark(from headers: inout NIOHTTP1.HTTPHeaders) -> Int? {
        guard let number = headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: field)
        return number
    }
}
#endif
