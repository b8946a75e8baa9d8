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

    /// Runs the demo and prints a report.
    ///
    /// - Returns: Whether every claim holds.
    /// - Throws: An error for ``Failure/init(_:)``, when the demo cannot start.
    func run() async throws -> Bool {
        let folder = try TemporaryFolder()
        let interrupts = await InterruptGuard(removing: folder)
        defer {
            folder.remove()
            interrupts.cancel()
        }
        let fitter = try AppGraph.photoFitter()
        console.print(console.terminal.bold("Latchkey: one refresh for all requests, and no accidental sign-out"))
        console.print()

        var report = try await DevBackend.withServer(configuration(folder)) { backend in
            var run = DemoRun(options: options, console: console, backend: backend, folder: folder.url)
            return await run.perform(fitter: fitter)
        }
        return try report.print(on: console)
    }

    private func configuration(_ folder: TemporaryFolder) -> DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.database = .file(folder.url.appendingPathComponent("backend.sqlite").path)
        configuration.expiredTokenStatus = options.expiredStatus
        return configuration
    }
}
