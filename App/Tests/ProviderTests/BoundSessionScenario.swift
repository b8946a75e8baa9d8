import Foundation
import ProgramTesting
import Testing

/// Starts the servers of the strict profile: `make test-provider` sets the variable, and without it the scenario is
/// skipped.
private let program = ProcessInfo.processInfo.environment["STRICT_PROFILE"]

/// S27 in shortened time. `make endurance ONLY=S27` runs it at full length.
@Suite(
    .serialized, .enabled(if: program != nil, "needs the strict profile: make test-provider"),
    .timeLimit(.minutes(20)))
struct BoundSessionScenario {
    @Test(arguments: ["AsyncHTTPClient", "URLSession"])
    func `S27: three processes, kills, nonces that change, and a key that cannot be read: no sign-out, no token twice`(
        transport: String
    ) async throws {
        let run = try await SpawnedProgram(
            SpawnedProgram.executable("Endurance"),
            [
                "--only", "S27", "--transports", transport, "--minutes", "0.5", "--kill-every", "3",
                "--strict-provider", program ?? "",
            ], environment: ProcessInfo.processInfo.environment)
        let result = await run.result
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    }
}
