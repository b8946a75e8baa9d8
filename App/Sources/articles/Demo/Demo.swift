import Composition
import DevBackend
import Foundation
import Imaging

/// The main job: a real server, a real photo, a crowd of requests on an expired token, and what became of them.
struct Demo {
    let options: DemoOptions
    let console: Console

    /// Runs the demo and reports on it.
    ///
    /// - Returns: Whether every claim holds.
    /// - Throws: ``Failure`` and errors that ``Failure`` reads, when the demo could not even begin.
    func run() async throws -> Bool {
        let folder = try TemporaryFolder()
        let interrupts = await InterruptGuard(removing: folder)
        defer {
            folder.remove()
            interrupts.end()
        }
        let fitter = try AppGraph.photoFitter()
        console.say(console.terminal.bold("Latchkey: nobody is ever logged out by mistake"))
        console.say()

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
