import Foundation
import NetworkCore
import NetworkExchange

extension HTTPTransportError {
    /// Converts an error of URLSession, which is not kept because it contains the whole URL, query included.
    init(reportedBy error: any Error, hasHead: Bool) {
        guard let error = error as? URLError else {
            self.init(.transportFailed, reason: "\(type(of: error))")
            return
        }
        // On Linux, what libcurl says: the code is the same for most of its errors.
        let text = error.errorUserInfo[NSLocalizedDescriptionKey] as? String ?? ""
        if error.code == .unknown, let (_, reason) = Self.unreadable.first(where: { text.hasPrefix($0.0) }) {
            self.init(.invalidResponse, reason: reason)
            return
        }
        let (code, reason) = hasHead ? Self.readingInBody(of: error.code) : Self.reading(of: error.code)
        let mayBeTLS = code == .transportFailed && ["SSL", "TLS", "tls", "certificate"].contains { text.contains($0) }
        let tls = mayBeTLS ? "; the cause may be TLS" : ""
        self.init(code, reason: "\(reason)\(tls) (URLError \(error.code.rawValue))")
    }

    /// What is wrong with a response that libcurl refuses.
    private static let unreadable = [
        ("Error while processing content unencoding", "the compressed body is damaged"),
        ("Failed writing received data", "the compressed body has surplus bytes, or several members"),
        ("Invalid Content-Length", HTTPResponseHead.noLength),
        ("Illegal or missing hexadecimal", "the size of a chunk is no number"),
        ("Too long hexadecimal", "the size of a chunk is no number"),
        ("Malformed encoding", "a chunk has another length than its size"),
        ("Unrecognized", "the body has a coding that is not known"),
        ("Header without colon", "a line of the head has no colon"),
        ("Nul byte in header", "the head has a NUL"),
        ("Failed writing header", "a line of the head is not UTF-8, or has no blank after its colon or its status"),
    ]

    /// An error after the head: TLS is established, the URL was used, and the server has responded.
    private static func readingInBody(of code: URLError.Code) -> (NetworkError.Code, String) {
        switch code {
        case .timedOut: reading(of: code)
        case .cannotDecodeContentData, .cannotDecodeRawData:
            (.invalidResponse, "the body of the response is not in the encoding that its head names")
        default: (.connectionFailed, "the connection was lost before the end of the response")
        }
    }

    private static func reading(of code: URLError.Code) -> (NetworkError.Code, String) {
        switch code {
        case .timedOut: (.timedOut, "nothing was sent or received during the idle timeout")
        case .cannotFindHost, .dnsLookupFailed: (.connectionFailed, "the host was not found")
        case .cannotConnectToHost: (.connectionFailed, "the host refused the connection")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            (.connectionFailed, "there is no connection to the internet")
        case .networkConnectionLost, .badServerResponse:
            // On Linux, the second is reported when a connection closes without a response.
            (.connectionFailed, connectionLost(hasHead: false, mayBeProcessed: true).reason)
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            (.tlsFailed, "no secure connection to the host could be made")
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile,
            .requestBodyStreamExhausted:
            (.encodingFailed, "the body cannot be read")
        case .badURL, .unsupportedURL, .cannotParseResponse:
            // The client sends valid http and https URLs only. On Linux, the second is what is left of libcurl's error
            // for a response that is not HTTP.
            (.invalidResponse, "the response is not HTTP")
        default: (.transportFailed, "the exchange failed")
        }
    }
}
