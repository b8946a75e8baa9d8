#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import NetworkCore

extension HTTPTransportError {
    /// Converts an error of AsyncHTTPClient, or of NIO below it. Its text is not kept: it may quote the request.
    init(reportedBy error: any Error, hasHead: Bool) {
        switch error {
        case let error as HTTPTransportError: self = error
        case let error as HTTPClientError: self.init(error, hasHead: hasHead)
        case let error as NIOConnectionError: self.init(error)
        case is HTTPParserError where hasHead && Self.isCut(error), is IOError, is ChannelError:
            self.init(.connectionFailed, reason: Self.lost(hasHead))
        case is HTTPParserError:
            self.init(.invalidResponse, reason: "the response is not valid HTTP")
        case NIOHTTPDecompression.DecompressionError.limit:
            self.init(.responseTooLarge, reason: "the compressed body is too large when it is decoded")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.invalidResponse, reason: "the compressed body is damaged or cut short")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is NIOTLSUnwrappingError:
            self.init(.tlsFailed, reason: "no secure connection to the host could be made")
        default:
            self.init(.transportFailed, reason: "the exchange failed (\(type(of: error)))")
        }
    }

    /// Whether an error says that a connection was closed, before or after it was chosen for a request.
    static func isClosedConnection(_ error: any Error) -> Bool {
        switch error {
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed: true
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: error.errnoCode == EPIPE || error.errnoCode == ECONNRESET
        default: false
        }
    }

    private static func isCut(_ error: any Error) -> Bool {
        switch error {
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: true
        default: false
        }
    }

    private static func lost(_ hasHead: Bool) -> String {
        "the connection was lost before \(hasHead ? "the end of the body" : "the response")"
    }

    private init(_ error: HTTPClientError, hasHead: Bool) {
        switch error {
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(.connectionFailed, reason: Self.lost(hasHead))
        case .connectTimeout, .getConnectionFromPoolTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            .tlsHandshakeTimeout:
            self.init(.timedOut, reason: "no connection could be made in time", waitedFor: .connection)
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            let wait = hasHead ? NetworkError.Wait.responseBody : .responseHead
            self.init(
                .timedOut, reason: "nothing was sent or received during a timeout of the client", waitedFor: wait)
        case .bodyLengthMismatch:
            self.init(.encodingFailed, reason: "the body has another number of bytes than its length says")
        case .invalidProxyResponse, .proxyAuthenticationRequired:
            self.init(.connectionFailed, reason: "the proxy refused the connection")
        case .alreadyShutdown, .cancelled:
            self.init(.transportFailed, reason: "the client was shut down")
        default:
            // Some descriptions have values of fields in them.
            self.init(.transportFailed, reason: error.shortDescription)
        }
    }

    private init(_ error: NIOConnectionError) {
        let isUnknown = error.connectionErrors.isEmpty
        self.init(
            .connectionFailed,
            reason: isUnknown ? "the host was not found" : "no connection to the host could be made")
    }
}
#endif
