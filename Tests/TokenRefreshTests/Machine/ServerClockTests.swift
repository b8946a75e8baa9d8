import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G3, G19: the time on the server's clock, and what is stored of it.
@Suite struct ServerClockTests {
    /// What a sign-in stores.
    private func signedIn(_ script: inout MachineScript) throws -> TokenBundle {
        _ = script.signIn(1, as: "bob", lifetime: .seconds(3_600))
        return try #require(script.lastContent?.bundle)
    }

    @Test func `G3: a stored bundle says when its access token was received and how long it is valid`() throws {
        var script = MachineScript()
        let stored = try signedIn(&script)
        #expect(stored.receivedAt == script.date)
        #expect(stored.lifetime == .seconds(3_600))
    }

    @Test func `G19: an implausible server date is ignored`() throws {
        for date in [Date.distantPast, Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: .nan)] {
            var script = MachineScript()
            _ = script.send(.serverDateNoted(date))
            let stored = try signedIn(&script)
            #expect(stored.expiresAt == script.date + 3_600)
            #expect(stored.clockSkew == 0)
        }
    }

    @Test func `G19: a later server date replaces an earlier one`() throws {
        var script = MachineScript()
        _ = script.send(.serverDateNoted(script.date + 50))
        _ = script.send(.serverDateNoted(script.date + 70))
        #expect(try signedIn(&script).clockSkew == 70)
    }

    @Test func `G19: only the first server date corrects the expiry of a restored token`() {
        var script = MachineScript()
        _ = script.ask(1)
        let stored = TokenBundle.stored("ada", 4, expiresAt: script.date + 3_600, clockSkew: 0.5)
        #expect(script.loaded(.success(.active(stored))) == ["signed in ada", "1: ada g4"])
        _ = script.send(.serverDateNoted(script.date))
        _ = script.send(.serverDateNoted(script.date + 2 * 86_400))
        #expect(script.ask(2) == ["2: ada g4"])
    }

    @Test func `G19: until a server date is known, a stored expiry is read with the skew at its receipt`() {
        var script = MachineScript()
        _ = script.ask(1)
        let skew = -2 * 86_400.0
        let stored = TokenBundle.stored("ada", 4, expiresAt: script.date + skew + 3_600, clockSkew: skew)
        #expect(script.loaded(.success(.active(stored))) == ["signed in ada", "1: ada g4"])
    }
}
