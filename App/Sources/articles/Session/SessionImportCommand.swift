import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCore

struct SessionImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over a session from the file of 'articles session export'.",
        discussion: "The file is removed once the session is stored, so that it has one holder.",
        examples: ["articles session import ada.session"])

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Flag(help: "End the session that is signed in here, and revoke its tokens.")
    var replace = false

    @Flag(
        help: """
            Import a session whose export was interrupted. Only if 'articles status' says where it was that it has \
            moved: otherwise it has two holders, which a server takes for a theft.
            """)
    var hasMoved = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try EnvironmentToken.checkUnset()
        try await connection.withGraph { graph in
            guard let store = graph.sharedStore else {
                throw Failure("the session would end with this command; use --store file", .usage)
            }
            let file = try file == "-" ? nil : SessionFile.open(file)
            let session = try file?.content() ?? contentOfStandardInput(graph)
            try check(session, for: graph.configuration.baseURL)
            let isHere = try await store.readable()?.holds(session.bundle.session) ?? false
            if let file {
                if isHere, file.state == .importing { return try finish(file, session) }
                try await check(file, session, store, destination(graph))
            }
            guard !isHere else {
                throw Failure(
                    "this session is signed in here already; remove \(self.file), which is not needed", .usage)
            }
            try await endSession(of: graph, for: session)
            try file?.claim(for: destination(graph))
            do {
                try await moveIn(session, to: graph)
            } catch {
                // What is certainly not here can be imported elsewhere.
                if let stored = try? await store.read(), !stored.holds(session.bundle.session) {
                    try? file?.set(.moved)
                }
                throw error
            }
            try finish(file, session)
        }
    }

    /// The session on standard input. One that is not moved yet is stored in a file: it may have no other holder.
    private func contentOfStandardInput(_ graph: AppGraph) throws -> MovedSession {
        let data = try InputFile("-").data()
        let session = try SessionFile.content(of: data, named: "standard input")
        guard try SessionFile.state(in: data, named: "standard input") == .exporting else { return session }
        let folder = (graph.configuration.storeLocation as NSString).deletingLastPathComponent
        let path = try SessionFile.keep(data, in: folder)
        throw Failure(
            "the export was interrupted, so the session may still be signed in where it was; it is in \(path). If "
                + "'articles status' there says that it has moved, run: articles session import --has-moved \(path)",
            .unusableInput)
    }

    /// The store, as the file names it while it is imported.
    private func destination(_ graph: AppGraph) -> String {
        let location = graph.configuration.storeLocation
        return "\(ProcessInfo.processInfo.hostName):\(location)"
    }

    private func check(_ session: MovedSession, for baseURL: URL) throws {
        guard let url = URL(string: session.baseURL), Origin(url) == Origin(baseURL),
            url.path.split(separator: "/") == baseURL.path.split(separator: "/")
        else {
            throw Failure(
                "\(file) has a session of \(session.baseURL), and not of \(baseURL); add --base-url \(session.baseURL)",
                .usage)
        }
    }

    /// Checks that no other store has the session, or is about to.
    private func check(
        _ file: SessionFile, _ session: MovedSession, _ store: any SharedTokenStore, _ destination: String
    ) async throws {
        switch file.state {
        case .moved, .streaming: return
        case .exporting:
            let hasLeftHere = try await session.hasLeft(store.readable())
            guard !hasMoved, !hasLeftHere else { return }
            throw Failure(
                "the export to \(self.file) was interrupted, so the session may still be signed in where it was; "
                    + "run 'articles session export' with this file there again, or, if 'articles status' there says "
                    + "that it has moved, add --has-moved here",
                .unusableInput)
        case .importing:
            let earlier = try file.destination()
            guard earlier != destination else { return }
            throw Failure("an import of \(self.file) was interrupted at \(earlier); continue it there", .unusableInput)
        }
    }

    /// Ends the session that is signed in here, which needs `--replace`.
    private func endSession(of graph: AppGraph, for session: MovedSession) async throws {
        let stored = try await graph.sharedStore?.readable()
        if case .tombstone(let tombstone)? = stored, tombstone.session == session.bundle.session,
            tombstone.reason != .moved
        {
            let text = StatusObject.Ending(tombstone.reason, date: tombstone.date)?.text ?? ""
            throw Failure("the session in \(file) has ended here (\(text)); remove the file, and sign in", .notSignedIn)
        }
        guard stored?.bundle != nil else { return }
        guard replace else {
            throw Failure("already signed in; add --replace to end this session, or use 'articles logout'", .usage)
        }
        _ = try await graph.session.restore()
        try await graph.auth.logout()
        try await graph.settle()
    }

    private func moveIn(_ session: MovedSession, to graph: AppGraph) async throws {
        switch try await graph.moveSessionIn(session.bundle) {
        case nil: return
        case .active(let other)? where other.session == session.bundle.session: return
        default: throw Failure("another process has signed in meanwhile; run the command again", .tryLater)
        }
    }

    /// Removes the file, and reports the session.
    private func finish(_ file: SessionFile?, _ session: MovedSession) throws {
        let console = output.console
        if let file, !file.remove() {
            console.note("note: \(self.file) could not be removed; remove it, because it must not be imported again")
        }
        console.print("signed in with the session of \(session.baseURL)")
        try console.printObject(["session": session.bundle.session.rawValue])
    }
}

extension SharedTokenStore {
    /// What is stored; `nil` for content that cannot be read as a session, which an import replaces.
    fileprivate func readable() async throws -> StoredSession? {
        do {
            return try await read()
        } catch let error as TokenStoreError where error.code == .corrupt {
            return nil
        }
    }
}

extension StoredSession {
    fileprivate func holds(_ session: SessionID) -> Bool { bundle?.session == session }
}
