import struct Foundation.Data

/// The one reader of an exchange's body. When it is released, the exchange ends: nothing would read on.
final class URLSessionBodyReader: Sendable {
    private let exchange: URLSessionExchange

    init(_ exchange: URLSessionExchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.fail(CancellationError())
    }

    @Sendable func next() async throws -> Data? {
        try await exchange.next()
    }
}
