import Foundation
import NetworkCore

/// Reads what was read already, and then the rest.
final class PrefixedReader: @unchecked Sendable {  // one reader calls `next`, one call at a time
    private var prefix: Data?
    private var rest: HTTPBody.AsyncIterator

    init(_ prefix: Data, then rest: HTTPBody.AsyncIterator) {
        self.prefix = prefix
        self.rest = rest
    }

    @Sendable func next() async throws -> Data? {
        if let prefix {
            self.prefix = nil
            return prefix
        }
        return try await rest.next()
    }
}
