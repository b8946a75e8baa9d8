import ConcurrencyPrimitives
import DevBackend
import Foundation
import ProgramTesting

/// Mixed traffic over one transport, with expiries and faults, in a process that must not grow.
struct TrafficRun {
    let minutes: Double
    let transport: TrafficCommand.Transport

    private static let interval = Duration.seconds(2)
    private let clock = SystemTimeSource()

    func perform(_ claims: inout Claims) async throws {
        let name = "traffic over \(transport.rawValue)"
        note(
            "\(name): \(minutes) minutes of requests and event streams, an expiry or a fault every "
                + Self.interval.inWords
        )
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var configuration = DevBackend.Configuration()
        configuration.limits.eventHeartbeat = .seconds(1)
        try await DevBackend.withServer(configuration) { backend in
            try await PeerSession.signIn(to: backend, in: folder)
            let program = try await SpawnedProgram(
                URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL,
                [
                    "traffic", "--folder", folder.tokens.path, "--server", backend.baseURL.absoluteString,
                    "--transport", transport.rawValue,
                ], environment: ProcessInfo.processInfo.environment)
            defer { program.kill() }
            let samples = try await disturb(backend, program.identifier)
            backend.faults = .none
            program.kill(SIGTERM)
            let result = await program.result
            let report = Dictionary(
                result.output.split(separator: "\n").map { line in
                    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                    return (words[0], words.count > 1 ? words[1] : "")
                }, uniquingKeysWith: { $1 })
            note("  \(report.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "; "))")
            claims.record("\(name): the process ends by itself", result.status == 0, result.errors.suffix(500))
            claims.record("\(name): no sign-out", report["endings"] == "0", report["endings"] ?? "unknown")
            claims.record("\(name): no task is left", report["left"] == "none", report["left"] ?? "unknown")
            let sent = report["succeeded"].flatMap { Int($0) } ?? 0
            let least = Int(minutes * 60 * 10)
            claims.record("\(name): at least \(least) requests succeed", sent >= least, sent)
            check(samples, name, keeping: sent * transport.bytesKeptOfRequest / 3 / 1_024, &claims)
        }
    }

    /// Expires the tokens, or makes requests fail, again and again until the time is over.
    ///
    /// - Returns: What the process used, as often.
    private func disturb(_ backend: DevBackend, _ process: Int32) async throws -> [ProcessUsage] {
        let faults: [[FaultRule]] = [
            [FaultRule("POST", "/auth/refresh", .respond(status: 503), times: 1)],
            [FaultRule("GET", "/articles/*", .respond(status: 503, retryAfter: .seconds(1)), times: 4)],
            [FaultRule("GET", "/articles", .closeBeforeHandler, times: 3)],
            [FaultRule("POST", "/auth/refresh", .closeAfterHandler, times: 1)],
            [FaultRule("GET", "/articles/events", .cutResponse(afterBytes: 20), times: 2)],
            [FaultRule("GET", "/articles", .cutResponse(afterBytes: 100), times: 3)],
            [FaultRule("GET", "/users/me", .jitter(upTo: .milliseconds(500)), times: 20)],
            [FaultRule("POST", "/articles", .delayResponse(.seconds(1)), times: 3)],
            [FaultRule(nil, "/users/me", .refuseToken, times: 5)],
        ]
        let start = clock.uptime
        let end = start + .seconds(minutes * 60)
        var samples: [ProcessUsage] = []
        var round = 0
        while clock.uptime < end {
            backend.faults = FaultPlan(faults[round % faults.count])
            // A token that was just refreshed is not refreshed again when it is refused (G10): one expiry in 12 s.
            // Every third fault meets one, those of the refresh among them.
            if round.isMultiple(of: 6) { try await backend.expireAccessTokens() }
            round += 1
            try? await clock.sleep(until: start + Self.interval * round)
            if let usage = ProcessUsage(of: process) { samples.append(usage) }
            if round.isMultiple(of: 30), let last = samples.last { note("  \(round * 2) s: \(last)") }
        }
        return samples
    }

    /// The first third of the time warms up. The last one must not use more than the second one.
    ///
    /// - Parameters:
    ///   - samples: What the process used.
    ///   - name: The name of the run.
    ///   - kept: What the system's library keeps of the requests of a third, in KB.
    ///   - claims: Receives the claims.
    private func check(_ samples: [ProcessUsage], _ name: String, keeping kept: Int, _ claims: inout Claims) {
        let third = samples.count / 3
        guard third > 0 else {
            return claims.record("\(name): what the process uses is known", false, "\(samples.count) samples")
        }
        let (before, after) = (samples[third..<2 * third], samples[(2 * third)...])
        let memory = [before, after].map { $0.map(\.kilobytes).sorted()[$0.count / 2] }
        claims.record(
            "\(name): memory is flat, within 5 % and 2 MB", memory[1] - kept <= memory[0] * 21 / 20 + 2_048,
            "\(memory[0]) KB, then \(memory[1]) KB, of which the system's library may keep \(kept) KB")
        for (what, most) in [("descriptors", \ProcessUsage.descriptors), ("threads", \ProcessUsage.threads)] {
            let counts = [before, after].map { $0.map { $0[keyPath: most] }.max() ?? 0 }
            claims.record(
                "\(name): \(what) are flat, within 4", counts[1] <= counts[0] + 4, "\(counts[0]), then \(counts[1])")
        }
    }
}

/// What a process uses, as Linux says.
struct ProcessUsage: CustomStringConvertible {
    let kilobytes: Int
    let threads: Int
    let descriptors: Int

    /// - Returns: `nil` for a process that has ended, and on other systems.
    init?(of process: Int32) {
        let folder = "/proc/\(process)"
        guard let text = try? String(contentsOfFile: "\(folder)/status", encoding: .utf8),
            let open = try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
        else { return nil }
        let values = Dictionary(
            text.split(separator: "\n").compactMap { line -> (Substring, Int)? in
                let words = line.split { " \t:".contains($0) }
                return words.count > 1 ? Int(words[1]).map { (words[0], $0) } : nil
            }, uniquingKeysWith: { $1 })
        guard let kilobytes = values["VmRSS"], let threads = values["Threads"] else { return nil }
        (self.kilobytes, self.threads, descriptors) = (kilobytes, threads, open.count)
    }

    var description: String { "\(kilobytes) KB, \(threads) threads, \(descriptors) descriptors" }
}
