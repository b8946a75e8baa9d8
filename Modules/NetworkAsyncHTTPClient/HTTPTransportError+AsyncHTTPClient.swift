#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import NetworkCore
import NetworkExchange

extension HTTPTransportError {
    /// Converts an error of AsyncHTTPClient, or of NIO below it. Its text is not kept: it may quote the request.
    init(reportedBy error: any Error, after progress: Exchange.Progress, through proxy: String?) {
        switch error {
        case let error as HTTPTransportError: self = error
        case let error as HTTPClientError: self.init(error, after: progress, through: proxy)
        case let error as NIOConnectionError: self.init(error, through: proxy)
        case is KeptConnectionClosed:
            self = .connectionLost(hasHead: false, mayBeProcessed: true, repetition: .ifIdempotent)
        case let error as NIOHTTP2Errors.StreamClosed where error.errorCode == .refusedStream && !progress.hasHead:
            let reason = "the server refused the request before it processed it"
            self.init(.connectionFailed, reason: reason, repetition: .always)
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection, is IOError, is ChannelError:
            self = .lost(after: progress, through: proxy)
        case is HTTPParserError:
            self.init(.invalidResponse, reason: "the response is not valid HTTP (\(error))")
        case NIOHTTPDecompression.DecompressionError.limit:
            self.init(.responseTooLarge, reason: "the compressed body is too large when it is decoded")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.invalidResponse, reason: "the compressed body is damaged or cut short")
        case NIOSSLError.uncleanShutdown: self = .lost(after: progress, through: proxy)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is NIOTLSUnwrappingError:
            self.init(.tlsFailed, reason: "no secure connection to the host could be made")
        default:
            self.init(.transportFailed, reason: "the exchange failed (\(type(of: error)))")
        }
    }

    /// Whether an error says that a connection was closed, or took no more requests, before or after it was chosen for
    /// a request. After a cancellation of its own, an exchange has ended.
    static func isClosedConnection(_ error: any Error) -> Bool {
        switch error {
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, is KeptConnectionClosed,
            NIOSSLError.uncleanShutdown:
            true
        case let error as HTTPClientError: error == .remoteConnectionClosed || error == .cancelled
        case let error as IOError: error.errnoCode == EPIPE || error.errnoCode == ECONNRESET
        default: false
        }
    }

    private static func lost(after progress: Exchange.Progress, through proxy: String?) -> Self {
        if let proxy, !progress.isSent {
            return Self(.connectionFailed, reason: "\(name(proxy)) closed the connection before the request was sent")
        }
        return .connectionLost(hasHead: progress.hasHead, mayBeProcessed: progress.isSent)
    }

    private static func name(_ proxy: String?) -> String { proxy.map { "the proxy \($0)" } ?? "the proxy" }

    private init(_ error: HTTPClientError, after progress: Exchange.Progress, through proxy: String?) {
        let name = Self.name(proxy)
        switch error {
        case .remoteConnectionClosed, .uncleanShutdown:
            self = .lost(after: progress, through: proxy)
        case .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            self.init(.timedOut, reason: "\(name) made no connection in time", waitedFor: .connection)
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            let way = proxy == nil ? "" : " through \(name)"
            self.init(.timedOut, reason: "no connection\(way) could be made in time", waitedFor: .connection)
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            let wait = progress.hasHead ? NetworkError.Wait.responseBody : .responseHead
            self.init(
                .timedOut, reason: "nothing was sent or received during a timeout of the client", waitedFor: wait)
        case .bodyLengthMismatch:
            self.init(.encodingFailed, reason: "the body has another number of bytes than its length says")
        case .proxyAuthenticationRequired:
            self.init(.proxyRefused, reason: "\(name) requires credentials, or does not accept those sent (407)")
        case .invalidProxyResponse:
            // AsyncHTTPClient does not show the status: it may be a 403, or a 502 that is gone a second later.
            self.init(.connectionFailed, reason: "\(name) did not make the connection to the host")
        case .alreadyShutdown, .cancelled:
            self.init(.transportFailed, reason: "the client was shut down")
        default:
            // Some descriptions have values of fields in them.
            self.init(.transportFailed, reason: error.shortDescription)
        }
    }

    private init(_ error: NIOConnectionError, through proxy: String?) {
        let isUnknown = error.connectionErrors.isEmpty
        let name = proxy == "\(error.host):\(error.port)" ? Self.name(proxy) : "the host"
        self.init(
            .connectionFailed, reason: isUnknown ? "\(name) was not found" : "no connection to \(name) could be made")
    }
}
#endif
