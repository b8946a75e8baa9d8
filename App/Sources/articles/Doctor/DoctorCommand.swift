import ArgumentParser
import Composition
import Foundation

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the store, the server, the clock and the session, and say what to do.",
        discussion: """
            It changes nothing: no token is refreshed, and no session is started or ended.

            Exit status: 0 no check failed, there may be warnings; 1 a check failed; 78 the configuration is invalid.
            """,
        examples: ["articles doctor", "articles doctor --json"])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            var examination = Examination(graph: graph)
            await examination.perform()
            let console = output.console
            for check in examination.checks {
                let text = [check.message, check.advice].compactMap(\.self).joined(separator: "; ")
                console.printRow([check.status.rawValue, check.name, text]) { cells in
                    let mark = cells[0].fitted(to: 9)
                    let shown = check.status == .ok ? mark : console.terminal.styled(mark, .yellow)
                    return "\(shown)\(cells[1].fitted(to: 9))\(cells[2])"
                }
            }
            let hasFailed = examination.checks.contains { $0.status == .failure }
            try console.printObject(Report(ok: !hasFailed, checks: examination.checks))
            if hasFailed { throw ExitStatus.refused }
        }
    }

    private struct Report: Encodable {
        let ok: Bool
        let checks: [Examination.Check]
    }
}
