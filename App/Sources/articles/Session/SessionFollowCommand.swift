import ArgumentParser
import AuthInterface
import Composition
import Foundation

struct SessionFollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Keep a file with the access token for other tools, until Ctrl-C.",
        discussion: """
            The file has the access token and a line end. It never has the refresh token, so a tool that reads it \
            cannot end the session by a refresh. A new token replaces the whole file. The file is removed when the \
            token has expired or is about to, when the session ends, and with this command.

            It has mode 0600. Its folder must be yours, and no other user may write in it. Other commands use it with \
            \(EnvironmentToken.fileVariable).

            Exit status: 77 when no user is signed in, or the session has ended.
            """,
        examples: [
            "articles session follow ~/.articles/token",
            "articles session follow --group-readable /srv/articles/token",
        ])

    @Argument(help: "The file. One of an earlier run is replaced.", completion: .file())
    var file: String

    @Flag(help: "Let the group of the folder read the file (mode 0640).")
    var groupReadable = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    /// How often the session is asked for its token. A valid one costs nothing.
    private static let pause: Duration = .seconds(1)

    func run() async throws {
        try EnvironmentToken.checkUnset()
        let console = Console(isJSON: false)
        let kept = try FollowedTokenFile(file, isGroupReadable: groupReadable)
        let remark: @Sendable () -> String? = { [file] in
            kept.discard()
            return "removed \(file)"
        }
        try await connection.withGraph(sayingWhenInterrupted: remark) { graph in
            defer { kept.discard() }
            try await keep(kept, of: graph, console)
        }
    }

    /// Keeps the file until the session ends.
    ///
    /// - Throws: `AuthenticationError` with code `notSignedIn` at its end; ``Failure`` when the file cannot be written.
    private func keep(_ kept: FollowedTokenFile, of graph: AppGraph, _ console: Console) async throws {
        var written: SessionToken?
        var hadToken = false
        while true {
            // A refresh may take its time: meanwhile no token that expires stays in the file.
            if graph.session.validToken == nil, written != nil {
                kept.remove()
                written = nil
            }
            do {
                let token = try await graph.session.token()
                if token.value != written?.value {
                    try kept.write(token.value)
                    if written == nil { console.note("\(file) has the access token; Ctrl-C removes it") }
                    (written, hadToken) = (token, true)
                }
            } catch let error as AuthenticationError
                where error.code == .refreshUnavailable || error.code == .storeUnavailable
            {
                // The token has expired, and the session goes on.
                if hadToken { console.note(Failure(error).message) }
                kept.remove()
                (written, hadToken) = (nil, false)
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}
