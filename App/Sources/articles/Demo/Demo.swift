import Composition
import DevBackend
import Foundation
import Imaging

/// The demo: a server, a photo, and many requests with an expired token.
struct Demo {
    /// The options of a run.
    struct Options: Hashable, Sendable {
        /// The bounds of ``requests``. A request needs two of the process's open files, unless connections are shared.
        static let requestBounds = 1...5_000

        /// The refresh calls to choose between.
        enum Refresh: String, CaseIterable, Sendable {
            case rest, oauth2
        }

        /// The number of concurrent requests.
        var requests = 200
        var refresh = Refresh.rest
        var expiredStatus = DevBackend.ExpiredTokenStatus.unauthorized
    }

    let options: Options
    let console: Console
    let recording: TrafficRecording

    /// Runs the demo and prints a report.
    ///
    /// - Returns: Whether every claim holds.
    /// - Throws: An error for ``Failure/init(_:)``, when the demo cannot start.
    func run() async throws -> Bool {
        let folder = try TemporaryFolder()
        let cleanUp = { @Sendable [recording] in
            try? recording.finish(DemoReport.title, baseURL: "")
            folder.remove()
        }
        let interruption = Interruption.current
        await interruption?.trap(cleanUp)
        defer {
            if interruption?.hasSignal == true { cleanUp() } else { folder.remove() }
            interruption?.end()
            interruption?.stop()
        }
        let fitter = try AppGraph.photoFitter()
        console.print(console.terminal.bold("Latchkey: one refresh for all requests, and no accidental sign-out"))
        let stake =
            "\(options.requests) requests carry a token that has just expired. The server replaces a refresh token "
            + "each time it is used, and takes a second use for theft: two refreshes would sign the user out."
        for line in console.terminal.wrapped(stake, indentation: 0) { console.print(line) }
        console.print()

        var report = try await DevBackend.withServer(configuration(folder)) { backend in
            var run = DemoRun(
                options: options, console: console, backend: backend, folder: folder.url, recording: recording)
            return await run.perform(fitter: fitter)
        }
        try Task.checkCancellation()
        let holds = try report.print(on: console, recording)
        try recording.finish(DemoReport.title, baseURL: report.baseURL, report.verdict)
        return holds
    }

    private func configuration(_ folder: TemporaryFolder) -> DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.database = .file(folder.url.appendingPathComponent("backend.sqlite").path)
        configuration.dialect.expiredTokenStatus = options.expiredStatus
        return configuration
    }
}

/// A temporary folder that only this user can read.
struct TemporaryFolder: Sendable {
    let url: URL

    /// Creates the folder.
    ///
    /// - Throws: ``Failure`` when the system's temporary folder is not writable.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("the temporary folder is not writable; set TMPDIR to a writable folder", .internalError)
        }
    }

    /// Removes the folder and its content.
    func remove() {
        // On failure the system removes the folder with its other temporary files.
        try? FileManager.default.removeItem(at: url)
    }
}
