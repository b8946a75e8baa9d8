public import AuthInterface
public import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// How a client authenticates at an OAuth 2.0 server (RFC 6749 §2.3, RFC 7523 §2.2).
public struct OAuth2Client: Sendable, Hashable {
    private enum Method: Hashable {
        case basic(secret: String)
        case body(secret: String)
        case assertion(OAuth2ClientAssertion)
        case none
    }

    /// The client identifier (RFC 6749 §2.2). It is no secret.
    public let id: String

    /// The types of access tokens that requests carry as bearer tokens, for a server with a name of its own for them,
    /// such as eBay's `User Access Token`. Case is ignored.
    public var bearerTokenTypes: Set<String> = ["bearer"]

    private let method: Method

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

    /// A client that signs each call with its private key (`private_key_jwt`, RFC 7523 §2.2): for servers and backends.
    /// The public half is registered at the server, and has the name `kid` there where the client has several. It is
    /// never the key to which the tokens of a session are bound (DPoP): that one is deleted when its session ends. Each
    /// call has an assertion with an identifier of its own for ``OAuth2Server/issuer``, valid for some whole seconds
    /// and dated by the server's clock where a response of it was seen.
    public static func privateKey(
        id: String,
        key: any SigningKey,
        issuer: String,
        keyID: String? = nil,
        lifetime: Duration = .seconds(60),
        clock: any TimeSource = SystemTimeSource()
    ) -> OAuth2Client {
        let assertion = OAuth2ClientAssertion(key, issuer: issuer, keyID: keyID, lifetime: lifetime, clock: clock)
        return OAuth2Client(id: id, method: .assertion(assertion))
    }

    /// A public client, such as an app: it cannot keep a secret, and sends its identifier only.
    public static func `public`(id: String) -> OAuth2Client { OAuth2Client(id: id, method: .none) }

    /// Makes a call with the client's authentication, which is for this call alone. The call follows no redirect, and
    /// its response is read as plain JSON. A pushed authorization request names the client in its form even where a
    /// header field authenticates it (RFC 9126 §2.1).
    ///
    /// - Throws: ``OAuth2SignInError`` with code `unavailable` when the client's key cannot be used now;
    ///   `CancellationError`. A client without a key throws nothing, and does not suspend.
    func call<Response>(
        _ parameters: QueryItems, namesClient: Bool = false, make: (RequestBody) -> Endpoint<Response>
    ) async throws -> Endpoint<Response> {
        var parameters = parameters
        switch method {
        case .basic(let secret):
            if namesClient { parameters.append("client_id", id) }
            return plain(parameters, make).header("Authorization", "Basic \(basicCredential(secret))")
        case .body(let secret):
            parameters.append("client_id", id)
            parameters.append("client_secret", secret)
            return plain(parameters, make)
        case .assertion(let assertion):
            parameters.append("client_id", id)
            parameters.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            parameters.append("client_assertion", try await signed(assertion))
            let sent = assertion.uptime
            return plain(parameters, make).map { response, head in
                assertion.note(head.serverDate, sentAt: sent)
                return response
            }
        case .none:
            parameters.append("client_id", id)
            return plain(parameters, make)
        }
    }

    private func plain<Response>(
        _ parameters: QueryItems, _ make: (RequestBody) -> Endpoint<Response>
    ) -> Endpoint<Response> { make(.form(parameters)).asTokenCall().format(.json) }

    private func signed(_ assertion: OAuth2ClientAssertion) async throws -> String {
        do {
            return try await assertion.text(for: id)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw OAuth2SignInError(
                .unavailable, reason: "the client's key cannot be used now: \(type(of: error))", cause: error)
        }
    }

    /// `nil`: the client has no key.
    var assertion: OAuth2ClientAssertion? { if case .assertion(let own) = method { own } else { nil } }

    /// The time in the next assertion. `nil`: the client signs none.
    var signedTime: SignedTime? { assertion?.signedTime }

    /// Notes the server's clock where a call has failed: a wrong date of an assertion can be the reason, and is where
    /// the refusal shows a new time.
    func note(_ error: NetworkError, isNewTime: Bool = false) {
        let elapsed = isNewTime ? .zero : error.elapsed ?? .zero
        if let assertion { assertion.note(error.response?.serverDate, sentAt: assertion.uptime - elapsed) }
    }

    /// The texts that no error may hold: the secret, and the HTTP Basic credential made of it.
    var secrets: [String?] {
        switch method {
        case .basic(let secret): [secret, basicCredential(secret)]
        case .body(let secret): [secret]
        // An assertion is in no error: the form names it as a secret, and it is used once.
        case .assertion, .none: []
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
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._*~ ")
        let encoded = addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
        return encoded.replacingOccurrences(of: " ", with: "+")
    }
}
