import ConcurrencyPrimitives

import struct Foundation.Data

/// Hands the pieces of a body to one reader.
final class OneReader: Sendable {
    private let make: Locked<(@Sendable () throws -> HTTPBody.Pull)?>

    init(_ make: @escaping @Sendable () throws -> HTTPBody.Pull) {
        self.make = Locked(make)
    }

    /// Hands out the pieces.
    ///
    /// - Throws: ``HTTPBodyError`` with code `alreadyRead` from the second call on.
    func take() throws -> HTTPBody.Pull {
        let make = make.withLock { make in
            defer { make = nil }
            return make
        }
        guard let make else { throw HTTPBodyError.alreadyRead }
        return try make()
    }
}
