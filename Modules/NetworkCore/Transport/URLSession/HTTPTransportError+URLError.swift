import Foundation

extension HTTPTransportError {
    /// Converts an error of URLSession, which is not kept because it contains the whole URL, query included.
    init(reportedBy error: any Error) {
        guard let error = error as? URLError else {
            self.init(.transportFailed, reason: "\(type(of: error))")
            return
        }
        let (code, reason) = Self.reading(of: error.code)
        self.init(code, reason: "\(reason) (URLError \(error.code.rawValue))")
    }

    private static func reading(of code: URLError.Code) -> (NetworkError.Code, String) {
        switch code {
        case .timedOut:
            (.timedOut, "nothing was sent or received during the idle timeout")
        case .cannotFindHost, .dnsLookupFailed:
            (.connectionFailed, "the host was not found")
        case .cannotConnectToHost:
            (.connectionFailed, "the host refused the connection")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            (.connectionFailed, "there is no connection to the internet")
        case .networkConnectionLost, .badServerResponse:
            // On Linux, the second is reported when a connection closes without a response.
            (.connectionFailed, "the connection was lost before the response")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            (.tlsFailed, "no secure connection to the host could be made")
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile,
            .requestBodyStreamExhausted:
            (.encodingFailed, "the body cannot be read")
        case .badURL, .unsupportedURL:
            (.invalidRequest, "the URL cannot be used")
        default:
            (.transportFailed, "the exchange failed; on Linux the cause may be TLS, or an incomplete body")
        }
    }
}
