import Testing

@testable import NetworkCore

/// G17: secrets that a server quotes are removed from its error. G26: the cost is bounded for any length of text.
@Suite struct QuotedSecretsTests {
    @Test func `a secret is found as it is, percent-encoded in either case, and form-encoded`() {
        let secret = "a b/c+d"
        for quoted in [secret, "a%20b%2Fc%2Bd", "a%20b%2fc%2bd", "a+b%2Fc%2Bd"] {
            #expect("no such token: '\(quoted)'".withoutQuoting([nil, "", secret]) == "no such token: 'redacted'")
        }
    }

    @Test func `the longer of two secrets is replaced first, so that no part of it is left`() {
        #expect("abcdef abc".withoutQuoting(["abc", "abcdef"]) == "redacted redacted")
    }

    @Test func `a text without secrets is not changed`() {
        #expect("nothing to see".withoutQuoting(["s3cret"]) == "nothing to see")
        #expect("s3cret".withoutQuoting([]) == "s3cret")
    }

    @Test(arguments: [4_080, 4_090, 4_095, 4_096, 4_100])
    func `a long text is cut, and never in the middle of a secret`(_ length: Int) {
        let secret = "s3cret-0123456789"
        let text = String(repeating: "x", count: length) + secret + String(repeating: "y", count: 10_000_000)
        let clean = text.withoutQuoting([secret])
        #expect(clean.utf8.count <= 4_096 + secret.utf8.count)
        #expect(!clean.contains("s3c"))
    }
}
