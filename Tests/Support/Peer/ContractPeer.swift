import ContractTesting
import NetworkTesting
import NetworkURLSession

/// Checks one rule of `TransportContract` with `URLSessionTransport`, in a process that the rule may end.
///
/// It writes `kept`, or `broken` and what was observed. It writes nothing when the rule ends the process.
enum ContractPeer {
    /// A rule that takes longer than the limit is broken.
    static func run(rule: String, timeLimit: Duration) async {
        do {
            try await TransportContract.check(only: [rule], timeLimit: timeLimit) { URLSessionTransport() }
            StandardIO.write("kept")
        } catch let violation as ContractViolation {
            let observed = violation.brokenRules.map(\.observed).joined(separator: "; ")
            StandardIO.write("broken", observed.split(whereSeparator: \.isNewline).joined(separator: " "))
        } catch {
            StandardIO.write("broken", "threw \(type(of: error))")
        }
    }
}
