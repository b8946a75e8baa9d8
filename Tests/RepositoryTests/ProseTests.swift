import Testing

/// The documentation, the comments and the messages are in plain technical English.
@Suite struct ProseTests {
    /// What is not written, and what is written instead.
    private static let glossary = [
        "whoever": "name who: the caller, the user, a process",
        "somebody": "name who: the user, a caller",
        "anybody": "name who: the user, a caller",
        "everybody": "name who: all callers, all waiters",
        "nobody": "no caller, no process, no user",
        "lets go of": "releases",
        "let go of": "released",
        "letting go": "releasing",
        "hears of": "is notified of, or is called with",
        "hear of": "is notified of, or is called with",
        "for ever": "indefinitely, or never",
        "to be had": "available",
        "answer": "response, result, or value",
        "answered": "responded",
        "patience": "the longest pause that a caller waits for",
        "mend": "fix",
        "mended": "fixed",
        "longest silence": "the idle timeout",
        "own no": "a rejection",
        "buys": "exchanges a refresh token for tokens",
        "vouches": "an identity provider",
        "opennetworkservice": "UnauthenticatedNetworkService",
        "secretbearing": "RedactedDescription",
    ]

    @Test func `no text has a word that the glossary replaces`() throws {
        for text in try Prose.all() {
            for (phrase, instead) in Self.glossary {
                for line in text.lines(of: phrase) {
                    Issue.record("\(text.path):\(line): “\(phrase)”. Write: \(instead).")
                }
            }
        }
    }

    @Test func `no text refers to a document that is not in the repository`() throws {
        for text in try Prose.all() {
            for line in text.linesWithForeignReferences {
                Issue.record("\(text.path):\(line): only G1 to G27 and S1 to S21 are published. Say what it means.")
            }
            for name in ["system md", "findings md", "style md", "design md", "guarantees md"] {
                for line in text.lines(of: name) { Issue.record("\(text.path):\(line): \(name) is not published.") }
            }
        }
    }
}
