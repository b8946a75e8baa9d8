import ConcurrencyPrimitives

/// Hands the pieces of a body to one reader.
final class OneReader: Sendable {
    private let source: Locked<(@Sendable () throws -> HTTPBody.Pull)?>

    init(_ make: @escaping @Sendable () throws -> HTTPBody.Pull) { source = Locked(make) }

    /// Hands out the pieces.
    ///
    /// - Throws: ``HTTPBodyError`` with code `alreadyRead` from the second call on.
    func take() throws -> HTTPBody.Pull {
        guard let source = source.withLock({ $0.take() }) else { throw HTTPBodyError.alreadyRead }
        return try source()
    }
}
