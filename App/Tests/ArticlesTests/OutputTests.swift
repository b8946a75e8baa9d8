import AuthInterface
import Foundation
import NetworkCore
import Testing

@testable import articles

/// The output of the program, and the search for secrets in it.
@Suite struct OutputTests {
    private let plain = Terminal(isInteractive: false)

    @Test func `the transcript contains all output`() throws {
        let console = Console(isJSON: true, terminal: plain)
        console.print("for people, so not printed")
        try console.printObject(["number": 42])
        #expect(console.transcript == "{\"number\":42}\n")
    }

    @Test(arguments: [(true, "a\u{FFFD}m\nb\n"), (false, "a\u{9B}m\r\nb\n")])
    func `the body of a response does not act on a terminal, and is unchanged in a pipe`(
        _ isTerminal: Bool, _ text: String
    ) {
        let console = Console(isJSON: false, terminal: Terminal(isInteractive: isTerminal))
        console.write(Data("a\u{9B}m\r\nb".utf8))
        #expect(console.transcript == text)
    }

    @Test func `a token is found as a whole and in parts`() {
        var search = SecretSearch()
        search.add(TokenBundle(accessToken: "fixture-head.fixture-body.fixture-sign", refreshToken: "fixture-refresh"))
        #expect(search.secrets.count == 5)
        #expect(search.count(in: "nothing to see") == 0)
        #expect(search.count(in: "… fixture-body …") == 1)
        #expect(search.count(in: "… fixture-head.fixture-body.fixture-sign …") == 4)
        #expect(search.count(in: "… fixture-refresh …") == 1)
    }

    @Test func `a claim without an observation does not hold`() {
        var claims = Claims()
        claims.record(.registered, true, "observed")
        let list = claims.list(requests: 7, missing: "because")
        #expect(list.count == Claims.Name.allCases.count)
        #expect(list.filter(\.holds).map(\.observed) == ["observed"])
        #expect(list.dropFirst().allSatisfy { $0.observed == "because" })
    }

    @Test(arguments: [(0, "  0 %"), (50, " 50 %"), (100, "100 %")])
    func `progress is drawn to scale`(_ completed: Int64, _ percent: String) {
        let line = ProgressBar.line(
            "upload", TransferProgress(completed: completed, total: 100), width: 60, isConfirmed: true)
        #expect(line.contains(percent))
        #expect(line.count { $0 == "█" } * 10 == Int(completed))
    }

    @Test(arguments: [true, false])
    func `progress is shown on a terminal, and is not 100 % before the transfer has succeeded`(_ isInteractive: Bool) {
        let terminal = Terminal(isInteractive: isInteractive)
        let console = Console(isJSON: false, terminal: terminal, progressTerminal: terminal)
        let bar = ProgressBar("upload", on: console)
        bar.show(TransferProgress(completed: 10, total: 10))
        #expect(!console.transcript.contains("100 %"))
        #expect(console.transcript.contains("waiting") == isInteractive)
        bar.finish()
        #expect(console.transcript.contains("100 %") == isInteractive)
        #expect(console.transcript.isEmpty != isInteractive)
    }

    @Test(arguments: ["Names for rain", "비의 이름", "Names for 비", "🌧️ rain", "e\u{301}"])
    func `a cell takes the columns that it is fitted to`(_ text: String) {
        for width in 1...20 { #expect(text.fitted(to: width).columns == width) }
        #expect(text.fitted(to: 20).hasPrefix(text))
    }

    @Test func `every failure is one line without the text of foreign errors`() {
        #expect(Failure("first\nsecond", .internalError).message == "first second")
        struct ForeignError: Error { let secret = "fixture-secret" }
        #expect(!Failure(ForeignError()).message.contains("fixture-secret"))
    }
}
