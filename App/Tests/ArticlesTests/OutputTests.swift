import AuthInterface
import NetworkCore
import Testing

@testable import articles

/// What is printed, and the search for what must not be.
@Suite struct OutputTests {
    private let plain = Terminal(isInteractive: false)

    @Test func everythingSaidIsRemembered() throws {
        let console = Console(isJSON: true, terminal: plain)
        console.say("for people, so not said")
        try console.object(["answer": 42])
        #expect(console.transcript == "{\"answer\":42}\n")
    }

    @Test func aTokenIsFoundWholeAndInParts() {
        var search = SecretSearch()
        search.add(TokenBundle(accessToken: "fixture-head.fixture-body.fixture-sign", refreshToken: "fixture-refresh"))
        #expect(search.secrets.count == 5)
        #expect(search.count(in: "nothing to see") == 0)
        #expect(search.count(in: "… fixture-body …") == 1)
        #expect(search.count(in: "… fixture-head.fixture-body.fixture-sign …") == 4)
        #expect(search.count(in: "… fixture-refresh …") == 1)
    }

    @Test func aClaimNobodyLookedAtDoesNotHold() {
        var claims = Claims()
        claims.see(.registered, true, "seen")
        let list = claims.list(requests: 7, missing: "because")
        #expect(list.count == ClaimName.allCases.count)
        #expect(list.filter(\.holds).map(\.observed) == ["seen"])
        #expect(list.dropFirst().allSatisfy { $0.observed == "because" })
    }

    @Test("progress is drawn to scale", arguments: [(0, "  0 %"), (50, " 50 %"), (100, "100 %")])
    func progress(_ completed: Int64, _ percent: String) {
        let line = ProgressBar.line("upload", TransferProgress(completed: completed, total: 100), width: 60)
        #expect(line.contains(percent))
        #expect(line.count { $0 == "█" } * 10 == Int(completed))
    }

    @Test func elsewhereThanOnATerminalProgressIsFewLines() {
        let console = Console(isJSON: false, terminal: plain)
        let bar = ProgressBar("upload", on: console)
        for completed in 0...1_000 { bar.show(TransferProgress(completed: Int64(completed), total: 1_000)) }
        #expect(console.transcript.split(separator: "\n").count == 5)
    }

    @Test(
        "durations read as people say them",
        arguments: [
            (Duration.microseconds(1_250), "1.3 ms"), (.milliseconds(312), "312 ms"), (.milliseconds(12_345), "12.3 s"),
        ])
    func durations(_ duration: Duration, _ text: String) {
        #expect(duration.inMilliseconds == text)
    }

    @Test func aFailureIsOneLineWhateverItIsMadeOf() {
        #expect(Failure("first\nsecond", .fault).message == "first second")
        struct Strange: Error { let secret = "fixture-secret" }
        #expect(!Failure(Strange()).message.contains("fixture-secret"))
    }
}
