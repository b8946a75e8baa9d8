import Foundation
import Testing

@testable import OAuth2Flows

/// The claims and the signature of whole proofs are checked by `StrictDPoPServer`.
@Suite("A proof of DPoP") struct DPoPProofTests {
    @Test func `no two proofs have one identifier`() {
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
    func `the URL is named without query and fragment, in one form (§4.2)`(_ url: String, _ target: String?) throws {
        #expect(DPoPProof.target(of: try #require(URL(string: url))) == target)
    }
}
