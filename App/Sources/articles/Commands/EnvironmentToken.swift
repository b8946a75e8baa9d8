import AuthInterface
import Composition
import Foundation

/// The access token in the environment, or in a file that it names, for a program that runs without a stored session.
///
/// It is used as it is: never stored, never refreshed and never printed.
struct EnvironmentToken {
    static let variable = "ARTICLES_TOKEN"
    /// Names a file with the token, as 'articles session follow' keeps one. ``variable`` comes first.
    static let fileVariable = "ARTICLES_TOKEN_FILE"
    /// The most bytes of such a file.
    private static let fileLimit = 64 * 1_024

    let value: String

    /// The variable that has the token, or names its file. `nil`: there is none. An empty variable counts as absent.
    static var source: String? { [variable, fileVariable].first { value(of: $0) != nil } }

    /// Whether the environment has a token, or names its file.
    static var isSet: Bool { source != nil }

    private static func value(of variable: String) -> String? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The token in a file, without the line end.
    private static func token(inFile path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: fileLimit + 1), data.count <= fileLimit
        else {
            throw Failure(
                "\(fileVariable) names \(path), which cannot be read; is 'articles session follow' running?",
                .configuration)
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// Reads the token; `nil` when there is none.
    ///
    /// - Throws: ``Failure``, without the token, when no header field can carry it.
    init?() throws {
        guard let source = Self.source else { return nil }
        let text = Self.value(of: source) ?? ""
        let value = source == Self.variable ? text : try Self.token(inFile: text)
        guard !value.isEmpty, value.isVisibleASCII else {
            throw Failure(
                "\(source) has a space, a line break or another character that no token has; set it again",
                .configuration)
        }
        self.value = value
    }

    /// Makes the token that of the graph's session. The graph's store must be in memory.
    ///
    /// - Throws: `TokenStoreError`.
    func save(in graph: AppGraph) async throws {
        try await graph.store.save(TokenBundle(accessToken: value, refreshToken: nil))
    }

    /// Rejects a command that changes the stored session, which the token would hide.
    ///
    /// - Throws: ``Failure``.
    static func checkUnset() throws {
        guard let source else { return }
        throw Failure("\(source) is set and would be used in place of the session; unset it first", .configuration)
    }
}
