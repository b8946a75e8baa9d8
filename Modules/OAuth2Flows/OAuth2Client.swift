public import AuthInterface
import Foundation
import NetworkCore

/// How a client authenticates at an OAuth 2.0 server (RFC 6749 §2.3.1).
public struct OAuth2Client: Sendable, Hashable {
    private enum Method: Hashable {
        case basic(secret: String)
        case body(secret: String)
        case none
    }

    /// The client identifier (RFC 6749 §2.2). It is no secret.
    public let id: String

    private let method: Method

    private init(id: String, method: Method) {
        self.id = id
        self.method = method
    }

    /// A client that authenticates with HTTP Basic, which every server must support.
    ///
    /// Identifier and secret are form-urlencoded, then joined.
    public static func basic(id: String, secret: String) -> OAuth2Client {
        OAuth2Client(id: id, method: .basic(secret: secret))
    }

    /// A client that sends its secret in the body, for a server without HTTP Basic.
    public static func body(id: String, secret: String) -> OAuth2Client {
        OAuth2Client(id: id, method: .body(secret: secret))
    }

    /// A public client, such as an app: it cannot keep a secret, and sends its identifier only.
    public static func `public`(id: String) -> OAuth2Client {
        OAuth2Client(id: id, method: .none)
    }

    /// Makes a call with the client's authentication.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the call's form.
    ///   - namesClient: Whether the form has the identifier even where a header field authenticates the client, as a
    ///     pushed authorization request must (RFC 9126 §2.1).
    ///   - make: Makes the call from its body.
    /// - Returns: The call. It is sent without tokens, it follows no redirect, and its response is read as plain JSON.
    func call<Response>(
        _ parameters: QueryItems,
        namesClient: Bool = false,
        make: (RequestBody) -> Endpoint<Response>
    ) -> Endpoint<Response> {
        var parameters = parameters
        var authorization: String?
        switch method {
        case .basic(let secret):
            authorization = "Basic \(basicCredential(secret))"
            if namesClient { parameters.append("client_id", id) }
        case .body(let secret):
            parameters.append("client_id", id)
            parameters.append("client_secret", secret)
        case .none:
            parameters.append("client_id", id)
        }
        let endpoint = make(.form(parameters)).asTokenCall().format(.json)
        return authorization.map { endpoint.header("Authorization", $0) } ?? endpoint
    }

    /// The texts that no error may hold: the secret, and the HTTP Basic credential made of it.
    var secrets: [String?] {
        switch method {
        case .basic(let secret): [secret, basicCredential(secret)]
        case .body(let secret): [secret]
        case .none: []
        }
    }

    private func basicCredential(_ secret: String) -> String {
        Data("\(id.formEncoded):\(secret.formEncoded)".utf8).base64EncodedString()
    }
}

extension OAuth2Client: RedactedDescription {
    /// The identifier; never the secret (G17).
    public var description: String { "OAuth2Client(\(id))" }
}

extension String {
    /// The text, encoded as `application/x-www-form-urlencoded` (RFC 6749 appendix B).
    fileprivate var formEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._*~ "
        )
        let encoded = addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
        return encoded.replacingOccurrences(of: " ", with: "+")
    }
}
