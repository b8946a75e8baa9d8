import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Profiles: several servers and accounts, each with a session of its own.
@Suite(.home, .timeLimit(.minutes(20))) struct ProfileTests {
    /// Two servers, and two accounts at the first one.
    private func withProfiles(_ body: (DevBackend, DevBackend) async throws -> Void) async throws {
        try await DevBackend.withServer { first in
            try await DevBackend.withServer { second in
                try home.configure(
                    #"""
                    {"base-url": "\#(first.baseURL)",
                     "profiles": {"work": {}, "staging": {"base-url": "\#(second.baseURL)", "refresh": "rest"}}}
                    """#)
                try await body(first, second)
            }
        }
    }

    private func user(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> String? {
        try await home.run(["status", "--json"] + arguments, environment).json("user", "name") as? String
    }

    @Test func `each profile has a session and a server of its own`() async throws {
        try await withProfiles { first, second in
            for (name, profile) in [("Ada", []), ("Grace", ["--profile", "work"]), ("Lin", ["--profile=staging"])] {
                let run = try await home.run(Home.login(as: name) + profile)
                #expect(run.status == 0, "\(run.errors)")
            }
            #expect(first.statistics.socialLogins == 2 && second.statistics.socialLogins == 1)
            #expect(try await user([]) == "Ada")
            #expect(try await user(["--profile", "default"]) == "Ada")
            #expect(try await user(["--profile", "work"]) == "Grace")
            #expect(try await user([], ["ARTICLES_PROFILE": "staging"]) == "Lin")
            #expect(try await user(["--profile", "work"], ["ARTICLES_PROFILE": "staging"]) == "Grace")
            #expect(try await home.run(["logout", "--profile", "work"]).status == 0)
            #expect(try await user([]) == "Ada")
            #expect(try await home.run(["list", "--profile", "work"]).status == 77)
        }
    }

    @Test func `the list names the servers, the sessions and the current profile`() async throws {
        try await withProfiles { first, second in
            #expect(try await home.run(Home.login() + ["--profile", "work"]).status == 0)
            let run = try await home.run(["profile", "list"], ["ARTICLES_PROFILE": "staging"])
            #expect(
                run.output == """
                    \tdefault\t\(first.baseURL)\tnot signed in
                    *\tstaging\t\(second.baseURL)\tnot signed in
                    \twork\t\(first.baseURL)\tsigned in

                    """)
            let profiles = try await home.run(["profile", "list", "--json=name,state"]).json("profiles")
            #expect((profiles as? [[String: String]])?.map { $0["state"] } == ["signedOut", "signedOut", "signedIn"])
        }
    }

    @Test func `a profile that does not exist, or has an invalid name, is an error`() async throws {
        try await withProfiles { _, _ in
            try await home.run(["list", "--profile", "wrok"]).expectError(64, "use one of: staging, work")
            try await home.run(["list"], ["ARTICLES_PROFILE": "wrok"]).expectError(78, "ARTICLES_PROFILE names")
            for name in ["../work", "a b", ".work", "-work", "", String(repeating: "a", count: 33), "wörk"] {
                let run = try await home.run(["list", "--profile=\(name)"])
                #expect(run.status == 64, "\(name): \(run.errors)")
            }
        }
    }
}
