import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The token that needs no event (G18), in a few places: each has a copy of its own, behind a lock of its own.
///
/// Processors that use one token at the same time wait for each other at its lock and at its count of references. Where
/// each has a place they do not. A place is filled from the machine, and all are emptied when the machine has another
/// token, both under the lock of the machine: so no place has a token that the machine has not.
final class ReadyTokens: @unchecked Sendable {  // a place is used under its lock, the rest under that of the machine
    private struct Place {
        var lock = pthread_mutex_t()
        var copy = Copy()
    }

    /// Not the machine's object, whose references would be counted beside those of the token.
    private struct Copy {
        var token: SessionToken?
        var until: Duration?
    }

    /// How many threads have a place of their own before two share one. An engine has all of them.
    private static let count = 4

    /// Whole lines of a processor's cache: two places share none.
    private static let stride = (MemoryLayout<Place>.size + 63) / 64 * 64

    private let places: UnsafeMutableRawPointer

    /// The machine's token for which the places were emptied last.
    private var current: MachineState.ReadyToken?

    init() {
        places = .allocate(byteCount: Self.count * Self.stride, alignment: 64)
        for number in 0..<Self.count {
            place(number).initialize(to: Place())
            lock(of: place(number)).initializeLock()
        }
    }

    deinit {
        for number in 0..<Self.count {
            pthread_mutex_destroy(lock(of: place(number)))
            place(number).deinitialize(count: 1)
        }
        places.deallocate()
    }

    /// The token in the place of the calling thread.
    ///
    /// - Returns: `nil`: none is there that can be used without an event. The machine may have one.
    /// - Complexity: O(1), without an allocation.
    func token(at uptime: Duration) -> SessionToken? {
        withPlace(ownPlace) { $0.until.isReached(at: uptime) ? nil : $0.token }
    }

    /// Fills the place of the calling thread. Under the lock of the machine.
    func fill(with ready: MachineState.ReadyToken?) {
        withPlace(ownPlace) { $0 = Copy(token: ready?.token.unshared, until: ready?.until) }
    }

    /// Empties all places if the machine has another token. Under the lock of the machine.
    func update(to ready: MachineState.ReadyToken?) {
        guard ready !== current else { return }
        current = ready
        for number in 0..<Self.count { withPlace(number) { $0 = Copy() } }
    }

    // MARK: Places

    private func place(_ number: Int) -> UnsafeMutablePointer<Place> {
        (places + number * Self.stride).assumingMemoryBound(to: Place.self)
    }

    private func lock(of place: UnsafeMutablePointer<Place>) -> UnsafeMutablePointer<pthread_mutex_t> {
        // The first field of a structure is where the structure is.
        UnsafeMutableRawPointer(place).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    private func withPlace<Result>(_ number: Int, _ body: (inout Copy) -> Result) -> Result {
        let place = place(number)
        pthread_mutex_lock(lock(of: place))
        defer { pthread_mutex_unlock(lock(of: place)) }
        return body(&place.pointee.copy)
    }

    /// The key under which a thread has the number of its place, from 1. `nil`: the process has no key left.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
    /// Each look at the static one would ask whether it is there yet.
    private let key = ReadyTokens.key

    private static let lastPlace = Locked(0)

    /// The place of the calling thread. Threads get them in turn.
    private var ownPlace: Int {
        guard let key else { return 0 }
        if let number = pthread_getspecific(key) { return Int(bitPattern: number) - 1 }
        let place = Self.lastPlace.withLock { last in
            last = (last + 1) % Self.count
            return last
        }
        pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: place + 1))
        return place
    }
}
