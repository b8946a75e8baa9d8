import AuthInterface
import Composition
import Foundation

/// The access token in the environment, for a program that runs without a stored session.
///
/// It is used as it is: never stored, never refreshed and never printed.
struct EnvironmentToken {
    static let variable = "ARTICLES_TOKEN"

    let value: String

    /// Whether the environment has a token. An empty variable counts as absent.
    static var isSet: Bool { text != nil }

    private static var text: String? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What to do about a token that is refused.
    static let refusal = "the server does not accept the token in \(variable); set a valid one, or unset it"

    /// Reads the token; `nil` when there is none. One that no header field can carry is a ``Failure``, which does not
    /// have it.
    init?() throws {
        guard let text = Self.text else { return nil }
        guard text.isVisibleASCII else {
            throw Failure(
                "\(Self.variable) has a space, a line break or another character that no token has; set it again",
                .configuration)
        }
        value = text
    }

    /// Makes the token that of the graph's session. The graph's store must be in memory.
    func save(in graph: AppGraph) async throws {
        try await graph.store.save(TokenBundle(accessToken: value, refreshToken: nil))
    }

    /// Rejects a command that changes the stored session, which the token would hide.
    static func checkUnset() throws {
        guard isSet else { return }
        throw Failure("\(variable) is set and would be used in place of the session; unset it first", .configuration)
    }
}
