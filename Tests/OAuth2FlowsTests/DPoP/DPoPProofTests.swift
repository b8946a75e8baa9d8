import AuthInterface
import Foundation
import Testing

@testable import OAuth2Flows

/// A key that returns a signature that is known.
private struct PrintedKey: SigningKey {
    let signature: String
    let algorithm = SigningAlgorithm.es256
    let publicKey: JSONWebKey

    init(signature: String) throws {
        self.signature = signature
        publicKey = .p256(
            x: try #require(Data(base64URL: "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs")),
            y: try #require(Data(base64URL: "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA")))
    }

    func sign(_ message: Data) async throws -> Data { try #require(Data(base64URL: signature)) }
}

/// A proof that RFC 9449 prints.
struct PrintedProof: Sendable {
    let parts: DPoPProof
    let claims: String
    let signature: String

    private static let header =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs"
        + "cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2"
        + "In19"

    var text: String { "\(Self.header).\(claims).\(signature)" }

    static let tokenRequest = PrintedProof(
        parts: DPoPProof(
            identifier: "-BwC3ESc6acc2lTc", method: "POST", target: "https://server.example.com/token",
            issuedAt: Date(timeIntervalSince1970: 1_562_262_616.9)),
        claims:
            "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
            + "IiwiaWF0IjoxNTYyMjYyNjE2fQ",
        signature: "2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg")

    static let resource = PrintedProof(
        parts: DPoPProof(
            identifier: "e1j3V_bKic8-LAEB", method: "GET", target: "https://resource.example.org/protectedresource",
            issuedAt: Date(timeIntervalSince1970: 1_562_262_618),
            tokenDigest: DPoPProof.digest(of: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")),
        claims:
            "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90"
            + "ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtz"
            + "bVFFbyJ9",
        signature: "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA")
}

@Suite("A proof of DPoP")
struct DPoPProofTests {
    @Test(arguments: [PrintedProof.tokenRequest, .resource])
    func `it is the one that RFC 9449 prints, byte by byte`(_ printed: PrintedProof) async throws {
        let key = try PrintedKey(signature: printed.signature)
        #expect(try await printed.parts.signed(by: key) == printed.text)
    }

    @Test func `it names the nonce where one is known, and no two have one identifier`() async throws {
        let key = try PrintedKey(signature: PrintedProof.resource.signature)
        var proof = PrintedProof.resource.parts
        proof.nonce = "eyJ7S_zG.eyJH0-Z.HX4w-7v"
        let text = try await proof.signed(by: key)
        let claims = try #require(Data(base64URL: text.split(separator: ".")[1]))
        let object = try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
        #expect(object["nonce"] as? String == "eyJ7S_zG.eyJH0-Z.HX4w-7v")
        #expect(Set((0..<1_000).map { _ in DPoPProof.randomText() }).count == 1_000)
        #expect(DPoPProof.randomText().utf8.count == 22, "128 bits")
    }

    @Test(
        arguments: [
            ("https://server.example.com/token", "https://server.example.com/token"),
            ("HTTPS://Server.Example.COM:443/Token?a=1&b#c", "https://server.example.com/Token"),
            ("http://127.0.0.1:8080/a%2Fb/?q", "http://127.0.0.1:8080/a%2Fb/"),
            ("http://127.0.0.1:80", "http://127.0.0.1/"),
            ("https://server.example.com:8443?x", "https://server.example.com:8443/"),
            ("https://[2001:DB8::1]:444/x", "https://[2001:db8::1]:444/x"),
            ("https://server.example.com:80/x", "https://server.example.com:80/x"), ("file:///tmp", nil),
        ] as [(String, String?)])
    func `the URL is named without query and fragment, and in one form (§4.2)`(_ url: String, _ target: String?) throws
    {
        #expect(DPoPProof.target(of: try #require(URL(string: url))) == target)
    }
}
