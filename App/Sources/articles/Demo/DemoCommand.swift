import ArgumentParser
import Composition
import DevBackend
import Foundation

/// A server, a photo, and many requests with an expired token.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show against a real server that one refresh serves all concurrent requests."
    )

    enum Refresh: String, CaseIterable, ExpressibleByArgument {
        case rest, oauth2
    }

    /// A request needs two of the process's open files, unless connections are shared.
    private static let requestBounds = 1...5_000

    @Option(help: "The number of concurrent requests, from 1 to 5000.")
    var requests = 200

    @Option(help: "How tokens are refreshed: rest or oauth2.")
    var refresh = Refresh.rest

    @OptionGroup var expired: ExpiredStatusOption
    @OptionGroup(title: "Requests") var traffic: TrafficOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard Self.requestBounds.contains(requests) else {
            let bounds = Self.requestBounds
            throw ValidationError("--requests must be from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
    }

    func run() async throws {
        let recording = try TrafficRecording(traffic)
        let folder = try Self.makeFolder()
        // On failure the system removes the folder with its other temporary files.
        let removeFolder = { @Sendable in _ = try? FileManager.default.removeItem(at: folder) }
        let holds = try await Interruption.guarding {
            try? recording.finish(DemoReport.title, baseURL: "")
            removeFolder()
        } work: { _ in
            defer { removeFolder() }
            return try await run(in: folder, recording)
        }
        guard holds else { throw ExitStatus.refused }
    }

    /// A temporary folder that only this user can read.
    private static func makeFolder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("the temporary folder is not writable; set TMPDIR to a writable folder", .internalError)
        }
        return url
    }

    /// Runs the demo, prints a report, and returns whether every claim holds.
    private func run(in folder: URL, _ recording: TrafficRecording) async throws -> Bool {
        let console = output.console
        let fitter = try AppGraph.photoFitter()
        console.print(console.terminal.bold("Latchkey: one refresh for all requests, and no accidental sign-out"))
        let stake =
            "\(requests) requests carry a token that has just expired. The server replaces a refresh token "
            + "each time it is used, and takes a second use for theft: two refreshes would sign the user out."
        for line in console.terminal.wrapped(stake, indentation: 0) { console.print(line) }
        console.print()

        var configuration = DevBackend.Configuration()
        configuration.database = .file(folder.appendingPathComponent("backend.sqlite").path)
        configuration.dialect.expiredTokenStatus = expired.status
        var report = try await DevBackend.withServer(configuration) { backend in
            var run = DemoRun(
                command: self, console: console, backend: backend, folder: folder, recording: recording)
            return await run.perform(fitter: fitter)
        }
        try Task.checkCancellation()
        let holds = try report.print(on: console, recording)
        try recording.finish(DemoReport.title, baseURL: report.baseURL, report.verdict)
        return holds
    }
}
