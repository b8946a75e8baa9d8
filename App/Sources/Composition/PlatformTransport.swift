public import NetworkCore

#if os(Linux) && canImport(NetworkAsyncHTTPClient)
import NetworkAsyncHTTPClient
#else
import NetworkURLSession
#endif

/// The transport of the platform: URLSession's on Apple platforms, and AsyncHTTPClient's on Linux, where URLSession
/// ends the process when a response has trailer fields.
public struct PlatformTransport: HTTPTransport {
    #if os(Linux) && canImport(NetworkAsyncHTTPClient)
    private let transport: AsyncHTTPClientTransport
    #else
    private let transport: URLSessionTransport
    #endif

    /// Creates a transport with connections of its own.
    ///
    /// - Parameter connectionsPerOrigin: The most calls at a time to an `http` origin.
    public init(connectionsPerOrigin: Int = 8) {
        #if os(Linux) && canImport(NetworkAsyncHTTPClient)
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectionsPerOrigin = connectionsPerOrigin
        transport = AsyncHTTPClientTransport(limits: limits)
        #else
        var limits = URLSessionTransport.Limits()
        limits.connectionsPerHost = connectionsPerOrigin
        transport = URLSessionTransport(limits: limits)
        #endif
    }

    /// Sends one request and returns when the head of the response has arrived.
    ///
    /// - Throws: `HTTPTransportError`. `CancellationError` at once when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await transport.perform(request)
    }

    /// Whether the transport of the platform does.
    public var endsInTime: Bool { transport.endsInTime }

    /// Closes the connections. Exchanges under way fail: wait for them first, as ``AppGraph/shutdown(within:)`` does.
    ///
    /// URLSession closes its own connections when the transport is released.
    public func shutdown() async {
        #if os(Linux) && canImport(NetworkAsyncHTTPClient)
        // The process ends, or drops the transport: a connection that does not close is of no consequence.
        try? await transport.shutdown()
        #endif
    }
}
