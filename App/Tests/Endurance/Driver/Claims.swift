import Foundation

/// The claims of the run, and the observation for each.
struct Claims {
    private var claims: [(text: String, holds: Bool, observed: String)] = []

    var allHold: Bool { claims.allSatisfy(\.holds) && !claims.isEmpty }

    mutating func record(_ text: String, _ holds: Bool, _ observed: some CustomStringConvertible) {
        claims.append((text, holds, "\(observed)"))
        note("  \(holds ? "holds" : "FAILS")  \(text): \(observed)")
    }

    func printSummary() {
        let failed = claims.filter { !$0.holds }
        note("\(claims.count - failed.count) of \(claims.count) claims hold")
        for claim in failed { note("FAILS  \(claim.text): \(claim.observed)") }
    }
}

/// Prints a line without a buffer, so that the reader of a pipe gets it at once.
func note(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
