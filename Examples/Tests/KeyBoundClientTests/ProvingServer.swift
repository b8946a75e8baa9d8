import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NotesServer

/// An authorization server and an API that accept a token with a proof of its key only, and each proof once. The nonce
/// changes with each response.
final class ProvingServer: Sendable {
    struct Seen {
        var thumbprints: Set<String> = []
        var identifiers: Set<String> = []
        var faults: [String] = []
        var refreshes = 0
        var nonce = 0
        var generation = 0
        var expired = -1
    }

    private let state = NIOLockedValueBox(Seen())

    var seen: Seen { state.withLockedValue { $0 } }

    /// Makes the access token expire.
    func expireToken() { state.withLockedValue { $0.expired = $0.generation } }

    func run(_ test: (URL) async throws -> Void) async throws {
        let router = Router()
        router.post("token") { [state] request, _ in
            let body = try await request.body.collect(upTo: 65_536)
            return state.withLockedValue { $0.token(request, body: String(buffer: body)) }
        }
        router.get("notes") { [state] request, _ in state.withLockedValue { $0.notes(request) } }
        try await serving(router, test)
    }
}

extension ProvingServer.Seen {
    fileprivate mutating func token(_ request: Request, body: String) -> Response {
        guard isProved(request, token: nil) else { return response(.badRequest, #"{"error":"use_dpop_nonce"}"#) }
        if body.contains("grant_type=refresh_token") {
            guard body.contains("refresh_token=refresh-\(generation)") else {
                return response(.badRequest, #"{"error":"invalid_request"}"#)
            }
            generation += 1
            refreshes += 1
        }
        return response(
            .ok,
            #"{"access_token":"access-\#(generation)","token_type":"DPoP","refresh_token":"refresh-\#(generation)"}"#)
    }

    fileprivate mutating func notes(_ request: Request) -> Response {
        let token = request.headers[.authorization] ?? ""
        guard token.hasPrefix("DPoP ") else { return refuse("invalid_token") }
        guard isProved(request, token: String(token.dropFirst(5))) else { return refuse("use_dpop_nonce") }
        guard token == "DPoP access-\(generation)", generation != expired else { return refuse("invalid_token") }
        return response(.ok, #"{"text":"Milk"}"#)
    }

    private mutating func refuse(_ error: String) -> Response {
        var refusal = response(.unauthorized, "")
        refusal.headers[.wwwAuthenticate] = #"DPoP error="\#(error)", algs="ES256""#
        return refusal
    }

    private mutating func response(_ status: HTTPResponse.Status, _ text: String) -> Response {
        nonce += 1
        var response = Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        response.headers[.contentType] = "application/json"
        if let name = HTTPField.Name("DPoP-Nonce") { response.headers[name] = "nonce-\(nonce)" }
        return response
    }

    /// Checks the proof of a request (RFC 9449 §4.3). A missing or an old nonce is a challenge, and all else a fault.
    private mutating func isProved(_ request: Request, token: String?) -> Bool {
        let parts = (request.headers.first { $0.name.canonicalName == "dpop" }?.value ?? "").split(separator: ".").map(
            String.init)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let jwk = header["jwk"] as? [String: String], let x = Data(base64URL: jwk["x"]),
            let y = Data(base64URL: jwk["y"]), let signature = Data(base64URL: parts[2]),
            let key = try? P256.Signing.PublicKey(rawRepresentation: x + y),
            let signed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signed, for: Data("\(parts[0]).\(parts[1])".utf8))
        else {
            faults.append("no proof")
            return false
        }
        thumbprints.insert("\(jwk["x"] ?? "")")
        let digest = token.map { Data(SHA256.hash(data: Data($0.utf8))) }
        let url = "http://\(request.head.authority ?? "")\(request.uri.path)"
        if claims["htm"] as? String != request.method.rawValue { faults.append("htm") }
        if claims["htu"] as? String != url { faults.append("htu") }
        if Data(base64URL: claims["ath"] as? String) != digest { faults.append("ath") }
        if !identifiers.insert(claims["jti"] as? String ?? "").inserted { faults.append("a proof was used twice") }
        return claims["nonce"] as? String == "nonce-\(nonce)"
    }

    private static func object(_ part: String) -> [String: Any]? {
        Data(base64URL: part).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
    }
}

extension Data {
    fileprivate init?(base64URL text: String?) {
        guard let text else { return nil }
        let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}
