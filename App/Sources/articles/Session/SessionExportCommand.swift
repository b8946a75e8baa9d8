import ArgumentParser
import AuthInterface
import Composition
import Foundation

struct SessionExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Move the session into a file, for 'articles session import' on another machine.",
        discussion: """
            The session then ends here, and its tokens stay valid: a server takes two holders of one refresh token for \
            a theft. The file is as good as a password.

            If the command is killed, run it again with the same file: it continues. That holds for a file to which \
            standard output was redirected too. A pipe cannot be asked whether its reader has kept the session: use a \
            file where it may not.
            """,
        examples: [
            "articles session export ada.session", "articles session export - | ssh other articles session import -",
        ])

    @Argument(
        help: "The file, which must not exist; - is standard output, which must not be a terminal.", completion: .file()
    )
    var file: String

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("the file must have a name") }
        guard file != "-" || output.json == nil else {
            throw ValidationError("with - the session is on standard output; leave out --json")
        }
    }

    func run() async throws {
        try EnvironmentToken.checkUnset()
        try await connection.withGraph { graph in
            try await file == "-" ? printSession(of: graph) : writeSession(of: graph)
        }
    }

    private func printSession(of graph: AppGraph) async throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw Failure("standard output is a terminal; name a file, or redirect it", .usage)
        }
        let url = graph.configuration.baseURL
        let bundle = try await graph.moveSessionOut { bundle, ended in
            try SessionFile.startStream(MovedSession(bundle, ended, baseURL: url), on: STDOUT_FILENO)
        }
        do {
            try SessionFile.endStream(on: STDOUT_FILENO)
        } catch {
            // Without its last line the session cannot be imported, so it returns.
            guard try await graph.moveSessionIn(bundle) == nil else {
                throw Failure("another process has signed in meanwhile; the moved session is lost", .tryLater)
            }
            throw error
        }
        output.console.note("the session was moved; import it with 'articles session import'")
    }

    private func writeSession(of graph: AppGraph) async throws {
        let console = output.console
        let stored = try await graph.sharedStore?.read() ?? .empty
        let file = try SessionFile.create(file, continuing: stored)
        if let left = try? file.content(), left.hasLeft(stored) {
            // An earlier run was killed after it had ended the session.
            try file.set(.moved)
        } else {
            do {
                try await graph.moveSessionOut { bundle, ended in
                    try file.write(MovedSession(bundle, ended, baseURL: graph.configuration.baseURL))
                }
            } catch {
                try await discard(file, of: graph, because: error)
            }
            try file.set(.moved)
        }
        console.print("moved the session to \(self.file); it has ended here")
        console.note("import it with: articles session import \(self.file)")
        try console.printObject(["file": self.file])
    }

    /// Removes the file of an export that has failed, unless the session has left the store nevertheless.
    private func discard(_ file: SessionFile, of graph: AppGraph, because error: any Error) async throws {
        let written = try? file.content()
        let stored = try? await graph.sharedStore?.read()
        if let written, written.hasLeft(stored) { return }
        if written == nil || stored != nil {
            file.remove()
            throw error
        }
        // The store cannot be read: the file may be the only holder of the session.
        let failure = Failure(error)
        throw Failure(
            "\(failure.message); the session may be in \(self.file) by now: run this command again once "
                + "the store works",
            failure.status)
    }
}
