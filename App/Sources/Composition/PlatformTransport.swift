package import NetworkCore

#if os(Linux) && canImport(NetworkAsyncHTTPClient)
import NetworkAsyncHTTPClient
#else
import NetworkURLSession
#endif

/// The transport of the platform: URLSession's on Apple platforms, and AsyncHTTPClient's on Linux, where URLSession
/// ends the process when a response has trailer fields.
package enum PlatformTransport {
    /// Creates a transport with connections of its own: at most this number of calls at a time to an `http` origin.
    package static func make(connectionsPerOrigin: Int = 8) -> any HTTPTransport {
        #if os(Linux) && canImport(NetworkAsyncHTTPClient)
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectionsPerOrigin = connectionsPerOrigin
        return AsyncHTTPClientTransport(limits: limits)
        #else
        var limits = URLSessionTransport.Limits()
        limits.connectionsPerHost = connectionsPerOrigin
        return URLSessionTransport(limits: limits)
        #endif
    }

    /// Closes the connections of a transport. Exchanges under way fail: wait for them first, as
    /// ``AppGraph/shutdown()`` does.
    ///
    /// URLSession closes its own connections when the transport is released. Any other transport stays as it is.
    package static func shutdown(_ transport: any HTTPTransport) async {
        #if os(Linux) && canImport(NetworkAsyncHTTPClient)
        // The process ends, or drops the transport: a connection that does not close is of no consequence.
        try? await (transport as? AsyncHTTPClientTransport)?.shutdown()
        #endif
    }
}
