import Foundation

extension HTTPTransportError {
    /// Reads what URLSession reports. Its own error is not kept: it holds the whole address, query included.
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
            (.timedOut, "nothing was sent or received for too long")
        case .cannotFindHost, .dnsLookupFailed:
            (.connectionFailed, "the host cannot be found")
        case .cannotConnectToHost:
            (.connectionFailed, "the host does not take the connection")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            (.connectionFailed, "there is no connection to the internet")
        case .networkConnectionLost, .badServerResponse:
            // On Linux, the second is what a connection closed without an answer is reported as.
            (.connectionFailed, "the connection was lost before there was an answer")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            (.tlsFailed, "there is no secure connection to the host")
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile,
            .requestBodyStreamExhausted:
            (.encodingFailed, "the body cannot be read")
        case .badURL, .unsupportedURL:
            (.invalidRequest, "the address cannot be used")
        default:
            (.transportFailed, "the exchange failed; on Linux that may be TLS, or a body that broke off")
        }
    }
}
