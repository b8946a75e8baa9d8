import NIOConcurrencyHelpers

/// Limits the memory that the bodies of all requests in progress take.
final class BodyMemory: Sendable {
    private let limit: Int
    private let taken = NIOLockedValueBox(0)
    private let ledger: RequestLedger

    init(limit: Int, ledger: RequestLedger) {
        self.limit = limit
        self.ledger = ledger
    }

    /// Takes memory.
    ///
    /// - Returns: Whether there was enough; if not, none is taken.
    private func take(_ bytes: Int) -> Bool {
        let total: Int? = taken.withLockedValue { taken in
            guard bytes <= limit - taken else { return nil }
            taken += bytes
            return taken
        }
        guard let total else { return false }
        ledger.noteBufferedBodies(bytes: total)
        return true
    }

    private func release(_ bytes: Int) {
        taken.withLockedValue { $0 -= bytes }
    }

    /// The memory that one request has taken, until its response is ready.
    final class Reservation: Sendable {
        private let memory: BodyMemory
        private let bytes = NIOLockedValueBox(0)

        init(_ memory: BodyMemory) { self.memory = memory }

        deinit { release() }

        /// Grows to a number of bytes; a smaller number changes nothing.
        ///
        /// - Returns: Whether there was enough memory; if not, nothing changes.
        func grow(to newSize: Int) -> Bool {
            bytes.withLockedValue { bytes in
                guard newSize > bytes else { return true }
                guard memory.take(newSize - bytes) else { return false }
                bytes = newSize
                return true
            }
        }

        /// Releases all of it. Calling it again changes nothing.
        func release() {
            bytes.withLockedValue { bytes in
                memory.release(bytes)
                bytes = 0
            }
        }
    }
}
