import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Text and bytes from outside: from a server, a shell, a pipe.
@Suite(.home) struct CommandInputTests {
    private func shell(_ script: String, _ arguments: [String]) async throws -> SpawnedProgram.Result {
        try await home.startShell(script, arguments).result
    }

    @Test(.signedIn) func `a server's text does not act on the terminal`() async throws {
        let title = "a\u{1B}]0;title\u{7}\u{202E}b\u{9B}2Jc"
        let created = try await home.run(
            ["create", "--title", title, "--body", "1\r\n2\u{1B}[31m\t3", "--json=id"] + base)
        let id = try #require(try created.json("article", "id") as? String)
        let runs = [["show", id], ["list"], ["show", "\u{1B}[31m"], ["list", "--cursor", "\u{1B}[31m"]]
        for arguments in runs {
            let run = try await home.run(arguments + base)
            for character in ["\u{1B}", "\u{7}", "\u{202E}", "\u{9B}", "\r"] {
                #expect(!run.allOutput.contains(character), "\(arguments): \(run.allOutput)")
            }
        }
        #expect(try await home.run(["show", id] + base).output.hasSuffix("\n1\n2\u{FFFD}[31m\t3\n"))
        // JSON has it unchanged, escaped.
        let json = try await home.run(["show", id, "--json"] + base)
        #expect(try json.json("article", "title") as? String == title)
        #expect(!json.output.contains("\u{202E}") && !json.output.contains("\u{9B}"), "\(json.output)")
        let hostile = "\u{1B}[2Jx\u{202E}"
        backend.faults = FaultPlan([FaultRule("GET", "/articles/*", .respond(status: 418, code: hostile))])
        let refused = try await home.run(["show", id] + base)
        #expect(refused.status == 1 && !refused.errors.contains("\u{1B}") && !refused.errors.contains("\u{202E}"))
    }

    @Test(.signedIn)
    func `bytes that are not UTF-8 are refused and not replaced, and no text is cut off at a null character`()
        async throws
    {
        let requests = backend.statistics.requests
        let title = try await shell(#"exec "$0" create --body x --title "$(printf 'a\377b')" "$@""#, base)
        title.expectError(64, "argument 5 is not valid UTF-8")
        #expect(try await shell(#"cd "$HOME" && exec "$0" list --har "$(printf 'h\377.har')" "$@""#, base).status == 64)
        #expect(try home.files("h").isEmpty)
        for command in [["create", "--title", "x", "--body", "-"], ["edit", "1", "--body", "-"]] {
            try await shell(#"printf 'a\377b' | "$0" "$@""#, command + base)
                .expectError(65, "standard input is not UTF-8")
        }
        try await shell(#"exec "$0" "$@" <&-"#, ["create", "--title", "x", "--body", "-"] + base)
            .expectError(66, "standard input cannot be read")
        #expect(backend.statistics.requests == requests)
        let run = try await shell(
            #"printf 'a\000b' | "$0" "$@""#, ["create", "--title", "x", "--body", "-", "--json"] + base)
        #expect(run.status == 1)
        #expect(run.errors.contains("Must not have a null character"), "\(run.allOutput)")
    }

    @Test(.signedIn { $0.limits.pageItems = 1 })
    func `a reader that has gone ends a list quietly, and no more pages are fetched`() async throws {
        let gate = backend.hold("GET", "/articles")
        let script = #"{ "$0" "$@"; echo "status $?" >&2; } | true"#
        let program = try await home.startShell(script, ["list", "--limit", "1"] + base)
        await gate.arrivals(1)
        gate.open()
        let run = await program.result
        #expect(run.errors == "status 141\n" || run.errors.hasSuffix("\nstatus 141\n"), "\(run.errors)")
        #expect(!run.errors.contains("cannot be written"))
    }

    @Test(
        .signedIn(flags: ["--expired-status", "419", "--token-fields", "accessToken,refreshToken"]) {
            $0.dialect = .tokenFields
            $0.dialect.expiredTokenStatus = .authenticationTimeout
        })
    func `419 and token fields are settings`() async throws {
        #expect(try await home.run(["list"] + base).status == 0)
        try await backend.expireAccessTokens()
        let run = try await home.run(["list", "--verbose"] + base)
        #expect(run.status == 0 && run.errors.contains("→ 419"), "\(run.errors)")
        #expect(backend.statistics.refreshes.committed == 1)
        let fields = backend.journal.filter { $0.path.hasSuffix("/articles") }.map(\.credentialFields)
        #expect(fields.allSatisfy { $0 == ["accesstoken", "refreshtoken"] }, "\(fields)")
        let accessToken = try await home.tokens(of: backend).accessToken
        #expect(!run.errors.contains(accessToken))
        #expect(try await home.run(["doctor"] + base).output.contains("accepted by the server"))
        #expect(try await home.run(["logout"] + base).status == 0)
        #expect(backend.statistics.logouts == 1)
        for names in ["", "a b", "a,b,c", "Host", "a,A", "content-length"] {
            #expect(try await home.run(["list", "--token-fields", names]).status == 64, "\(names)")
        }
    }

    @Test(.signedIn) func `pages that lead in a circle are an error`() async throws {
        let page = #"{"data":{"items":[],"nextCursor":"a"}}"#
        let response = GatewayResponse(status: 200, contentType: "application/json", body: page)
        backend.faults = FaultPlan([FaultRule("GET", "/articles", .gateway(response))])
        try await home.run(["list", "--all"] + base).expectError(1, "circle")
    }
}
