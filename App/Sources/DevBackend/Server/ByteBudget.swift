import NIOConcurrencyHelpers

/// The bytes that all requests in progress together may take: of memory for bodies, or of disk for uploads.
final class ByteBudget: Sendable {
    private let limit: Int
    private let taken = NIOLockedValueBox(0)
    private let note: @Sendable (Int) -> Void

    /// Creates a budget. Each new total is passed to `note`.
    init(limit: Int, note: @escaping @Sendable (Int) -> Void) {
        self.limit = limit
        self.note = note
    }

    /// Takes bytes.
    ///
    /// - Returns: Whether there were enough; if not, none is taken.
    private func take(_ bytes: Int) -> Bool {
        let total: Int? = taken.withLockedValue { taken in
            guard bytes <= limit - taken else { return nil }
            taken += bytes
            return taken
        }
        guard let total else { return false }
        note(total)
        return true
    }

    private func release(_ bytes: Int) {
        taken.withLockedValue { $0 -= bytes }
    }

    /// The bytes that one request has taken.
    final class Reservation: Sendable {
        private let budget: ByteBudget
        private let bytes = NIOLockedValueBox(0)

        init(_ budget: ByteBudget) { self.budget = budget }

        deinit { release() }

        /// Grows to a number of bytes; a smaller number changes nothing.
        ///
        /// - Returns: Whether there were enough bytes; if not, nothing changes.
        func grow(to newSize: Int) -> Bool {
            bytes.withLockedValue { bytes in
                guard newSize > bytes else { return true }
                guard budget.take(newSize - bytes) else { return false }
                bytes = newSize
                return true
            }
        }

        /// Releases all of it. Calling it again changes nothing.
        func release() {
            bytes.withLockedValue { bytes in
                budget.release(bytes)
                bytes = 0
            }
        }
    }
}
