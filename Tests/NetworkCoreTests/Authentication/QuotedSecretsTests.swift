import Testing

@testable import NetworkCore

/// G17: what a server quotes is cleaned before it reaches an error. G26: at a cost that does not grow with the text.
@Suite struct QuotedSecretsTests {
    @Test("a secret is found as it is, percent-encoded in either case, and as a form has it")
    func forms() {
        let secret = "a b/c+d"
        for quoted in [secret, "a%20b%2Fc%2Bd", "a%20b%2fc%2bd", "a+b%2Fc%2Bd"] {
            #expect("no such token: '\(quoted)'".withoutQuoting([nil, "", secret]) == "no such token: 'redacted'")
        }
    }

    @Test("the longer of two secrets is replaced first, so that no part of it is left")
    func overlapping() {
        #expect("abcdef abc".withoutQuoting(["abc", "abcdef"]) == "redacted redacted")
    }

    @Test("a text without secrets stays as it is, and so does one when there are no secrets")
    func untouched() {
        #expect("nothing to see".withoutQuoting(["s3cret"]) == "nothing to see")
        #expect("s3cret".withoutQuoting([]) == "s3cret")
    }

    @Test("a long text is cut, and never in the middle of a secret", arguments: [4_080, 4_090, 4_095, 4_096, 4_100])
    func longText(_ length: Int) {
        let secret = "s3cret-0123456789"
        let text = String(repeating: "x", count: length) + secret + String(repeating: "y", count: 10_000_000)
        let clean = text.withoutQuoting([secret])
        #expect(clean.utf8.count <= 4_096 + secret.utf8.count)
        #expect(!clean.contains("s3c"))
    }
}
