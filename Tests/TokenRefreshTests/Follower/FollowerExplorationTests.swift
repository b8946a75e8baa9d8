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

    /// How contents reach a follower, and from which version of an owner.
    enum Way: CaseIterable {
        case read, given, givenByEarlierVersion
    }

    /// The follower, and what it was shown.
    private struct Walk {
        let way: Way
        var script = FollowerScript()
        var shown: [Int] = []

        init(_ way: Way) {
            self.way = way
            _ = script.pass(.seconds(1_000))
        }

        mutating func take(_ index: Int) {
            shown.append(index)
            let parts = FollowerExplorationTests.history[index].split(separator: " ").map(String.init)
            let (user, begun, ordinal) = (parts[0], parts[0] == "ada" ? 0.0 : 200, parts[0] == "ada" ? Int64(7) : 8)
            let isOld = way == .givenByEarlierVersion
            let content: StoredSession =
                Int(parts[1]).map { .active(script.bundle(user, $0, begun: begun, ordinal: isOld ? nil : ordinal)) }
                ?? script.ended(user, at: begun + 100, upTo: isOld ? 0 : ordinal)
            _ = way == .read ? script.read(content) : script.give(content)
        }

        /// What the follower shows and must not: what is read counts, and of what is given the last in the history.
        var fault: String? {
            guard let index = way == .read ? shown.last : shown.max() else { return nil }
            let expected = FollowerExplorationTests.history[index]
            let bundle = script.machine.current?.bundle
            let shows = bundle.map { "\($0.session) \($0.generation)" }
            return shows == (expected.hasSuffix("end") ? nil : expected) ? nil : "\(shows ?? "no user") is shown"
        }
    }

    @Test(arguments: Way.allCases)
    func `G29: every order of an owner's contents leads to the newest one, and never back`(way: Way) {
        var walks = 0
        explore(Walk(way), &walks)
        #expect(walks == 55_986, "six contents at most, of six kinds")
    }

    private func explore(_ walk: Walk, _ walks: inout Int) {
        guard walk.shown.count < Self.length else { return }
        for index in Self.history.indices {
            var next = walk
            next.take(index)
            walks += 1
            if let fault = next.fault {
                Issue.record("\(fault): \(next.shown.map { Self.history[$0] }.joined(separator: ", "))")
                return
            }
            explore(next, &walks)
        }
    }
}
