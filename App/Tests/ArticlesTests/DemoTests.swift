import Foundation
import ProgramTesting
import Testing

@Suite(.home, .timeLimit(.minutes(20))) struct DemoTests {
    static let claims = [
        "a guest is registered",
        "the image is within 1024×1024 and 5 MB",
        "40 concurrent requests with an expired token all succeed",
        "exactly one refresh reached the server",
        "a new object graph over the same store is signed in without a login",
        "after logout the server refuses the old access and refresh tokens",
        "no secret was printed",
    ]

    @Test(arguments: [["--refresh", "rest"], ["--refresh", "oauth2"], ["--expired-status", "419"]])
    func `every claim holds, with every refresh call and expired status`(_ arguments: [String]) async throws {
        let run = try await home.run(["demo", "--json", "--requests", "40"] + arguments)
        #expect(run.status == 0, "\(run.allOutput)")
        #expect(run.errors.isEmpty)
        #expect(run.outputLines.count == 1, "one object on one line")
        let report = try run.object()
        #expect(["requests", "refreshes", "failures", "signOuts"].map { report[$0] as? Int } == [40, 1, 0, 0])
        let claims = try #require(report["claims"] as? [[String: Any]])
        #expect(claims.compactMap { $0["name"] as? String } == Self.claims)
        #expect(claims.allSatisfy { $0["holds"] as? Bool == true && ($0["observed"] as? String)?.isEmpty == false })
    }

    @Test func `for people the demo draws the calls, its page has the claims, and it leaves no other files`()
        async throws
    {
        let report = home.location("demo.html")
        let demo = ["demo", "--requests", "40", "--report", report]
        let run = try await home.run(demo, ["COLUMNS": "90", "NO_COLOR": "1"])
        #expect(run.status == 0, "\(run.allOutput)")
        let page = try String(contentsOfFile: report, encoding: .utf8)
        #expect(page.components(separatedBy: #"<span class="mark yes">holds</span>"#).count == 8)
        #expect(page.contains("it served 40 refused requests"))
        #expect(!page.contains("eyJ"), "nothing looks like the start of a token")
        let lines = run.outputLines
        let verdict = try #require(lines.firstIndex { $0.hasPrefix("7 of 7 claims hold: 40 requests") })
        let legend = try #require(lines.firstIndex { $0.contains("attempt that fails") })
        let refresh = try #require(lines.firstIndex { $0.hasPrefix("»") })
        #expect(verdict < legend && legend < refresh, "the verdict, then the legend, then the picture")
        #expect(lines.count { $0.hasPrefix("»") } == 1, "one refresh is marked")
        #expect(lines[verdict...].allSatisfy { $0.count <= 90 })
        #expect(lines.count { $0.hasPrefix("  holds  ") } == Self.claims.count)
        #expect(!run.errors.contains("upload"), "bars are drawn on a terminal only")
        #expect(!run.output.contains("\u{1B}"))
        #expect(!run.allOutput.contains("eyJ"), "no output looks like the start of a token")
        #expect(try home.leftovers() == [])
    }

    @Test func `an interrupted run leaves no files`() async throws {
        let program = try await home.start(["demo", "--requests", "5000"], [:])
        await program.waitForLine()
        program.kill(SIGINT)
        #expect(await program.result.signal == SIGINT)
        #expect(try home.leftovers() == [])
    }
}
