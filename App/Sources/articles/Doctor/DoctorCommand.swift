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
            var examination = Examination(graph)
            await examination.perform()
            let console = output.console
            for check in examination.checks { console.print(check) }
            let hasFailed = examination.checks.contains { $0.status == .failure }
            try console.printObject(Report(ok: !hasFailed, checks: examination.checks))
            if hasFailed { throw ExitStatus.refused }
        }
    }

    private struct Report: Encodable {
        let ok: Bool
        let checks: [Check]
    }
}

/// The result of one check.
struct Check: Encodable, Hashable {
    enum Status: String, Encodable {
        case ok, warning, failure
    }

    let name: String
    let status: Status
    /// What was found.
    let message: String
    /// What to do; `nil` when there is nothing to do.
    var advice: String?

    static func ok(_ name: String, _ message: String) -> Check {
        Check(name: name, status: .ok, message: message)
    }

    static func warning(_ name: String, _ message: String, _ advice: String? = nil) -> Check {
        Check(name: name, status: .warning, message: message, advice: advice)
    }

    static func failure(_ name: String, _ message: String, _ advice: String? = nil) -> Check {
        Check(name: name, status: .failure, message: message, advice: advice)
    }
}

extension Console {
    /// Prints a check as one line.
    func print(_ check: Check) {
        let text = check.advice.map { "\(check.message); \($0)" } ?? check.message
        printRow([check.status.rawValue, check.name, text]) { cells in
            let mark = cells[0].fitted(to: 9)
            return "\(check.status == .ok ? mark : terminal.styled(mark, .yellow))\(cells[1].fitted(to: 9))\(cells[2])"
        }
    }
}
