import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G29: every order in which what an owner has stored can reach a follower, late and more than once.
@Suite struct FollowerExplorationTests {
    /// Two sessions of an owner, the later one last: tokens, a refresh, the end.
    private static let history = ["ada 0", "ada 1", "ada end", "bob 0", "bob 1", "bob end"]
    /// How many contents arrive.
    private static let length = 6

    /// The follower, and what it was shown.
    private struct Walk {
        var script = FollowerScript()
        var shown: [Int] = []

        init() { _ = script.pass(.seconds(1_000)) }

        var user: String? { script.machine.current?.bundle.session.rawValue }

        mutating func take(_ index: Int, reads: Bool) {
            shown.append(index)
            let parts = FollowerExplorationTests.history[index].split(separator: " ").map(String.init)
            let (user, begun) = (parts[0], parts[0] == "ada" ? 0.0 : 200)
            let content: StoredSession =
                Int(parts[1]).map { .active(script.bundle(user, $0, begun: begun)) }
                ?? script.ended(user, at: begun + 100)
            _ = reads ? script.read(content) : script.give(content)
        }

        /// What the follower does that it must not.
        var fault: String? {
            let (before, last) = (shown.dropLast(), shown.last ?? 0)
            if let user, shown.contains(user == "ada" ? 2 : 5) { return "\(user) is shown, whose end was seen" }
            // A session whose end comes before its tokens does not say when it began.
            if user == "ada", shown.first(where: { $0 > 2 }).map({ $0 < 5 }) ?? false {
                return "an earlier sign-in replaces a later one"
            }
            let generation = script.machine.current?.bundle.generation
            if generation == 0, shown.contains(user == "ada" ? 1 : 4) { return "older tokens replace newer ones" }
            // The end of the later session is its own, whatever came before it.
            if last == 5, user != nil { return "the end of the later session is not followed" }
            if last == 4, !before.contains(5), generation != 1 { return "the newest tokens are not used" }
            if user == nil, shown.allSatisfy({ ![2, 5].contains($0) }) { return "a session ends by itself" }
            return nil
        }
    }

    @Test(arguments: [false, true])
    func `G29: every order of an owner's contents leads to its newest session, and never back`(reads: Bool) {
        var walks = 0
        explore(Walk(), reads, &walks)
        #expect(walks == 55_986, "six contents at most, of six kinds")
    }

    private func explore(_ walk: Walk, _ reads: Bool, _ walks: inout Int) {
        guard walk.shown.count < Self.length else { return }
        for index in Self.history.indices {
            var next = walk
            next.take(index, reads: reads)
            walks += 1
            if let fault = next.fault {
                Issue.record("\(fault): \(next.shown.map { Self.history[$0] }.joined(separator: ", "))")
                return
            }
            explore(next, reads, &walks)
        }
    }
}
