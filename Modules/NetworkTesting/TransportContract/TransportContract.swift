import ContractTesting
import Foundation
public import NetworkCore

/// The rules that every `HTTPTransport` should keep, as a suite to run against yours.
///
/// ```swift
/// @Test func `my transport keeps the contract`() async throws {
///     try await TransportContract.check { PartnerTransport() }
/// }
/// ```
///
/// Each rule has a transport of its own, and a server on a loopback port that sends what real servers and broken ones
/// send: bodies cut short, two lengths, no HTTP at all. A transport that cannot keep a rule declares a ``Deviation``,
/// with its reason. The article <doc:Transports> has the table for the transports that ship.
public enum TransportContract {
    /// A rule that a transport does not keep.
    public struct Deviation: Sendable, Hashable {
        /// The rule, one of ``TransportContract/rules``.
        let rule: String

        /// What the transport does instead.
        let reason: String

        /// Whether the rule ends the process. Such a rule is not run.
        let endsProcess: Bool

        /// Declares a deviation.
        public init(_ rule: String, _ reason: String, endsProcess: Bool = false) {
            self.rule = rule
            self.reason = reason
            self.endsProcess = endsProcess
        }
    }

    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { TransportRules.all.map(\.name) }

    /// Checks a transport, a new one for each rule; all rules, or some only. A declared deviation is checked too: a
    /// transport that keeps the rule all the same violates the contract, so that no declaration outlives its reason.
    ///
    /// - Throws: `ContractViolation` with every rule that is broken, or kept against a declaration; the errors of
    ///   `makeTransport`.
    public static func check<Transport: HTTPTransport>(
        deviations: [Deviation] = [], only: Set<String>? = nil, timeLimit: Duration = .seconds(120),
        makeTransport: () async throws -> Transport
    ) async throws {
        var broken = deviations.filter { deviation in !TransportRules.all.contains { $0.name == deviation.rule } }
            .map { ContractViolation.BrokenRule(name: $0.rule, observed: "there is no such rule") }
        let declared = Dictionary(deviations.map { ($0.rule, $0) }) { first, _ in first }
        for rule in TransportRules.all where only?.contains(rule.name) ?? true {
            let deviation = declared[rule.name]
            guard deviation?.endsProcess != true else { continue }
            let subject = TransportSubject(transport: try await makeTransport())
            let outcome = await rule.broken(by: subject, timeLimit: timeLimit)
            switch (outcome, deviation) {
            case (let outcome?, nil): broken.append(outcome)
            case (nil, _?):
                let observed = "the transport keeps it, and declares that it does not"
                broken.append(ContractViolation.BrokenRule(name: rule.name, observed: observed))
            default: break
            }
        }
        guard broken.isEmpty else {
            throw ContractViolation(
                contract: "TransportContract", subject: "\(Transport.self)", brokenRules: broken)
        }
    }
}

enum TransportRules {
    static let emptyResponse = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// A rule with a server, which serves each connection by a closure.
    static func rule(
        _ name: String, serving serve: @escaping @Sendable (LoopbackConnection) -> Void,
        check: @escaping @Sendable (TransportSubject, LoopbackPeer) async throws -> Void
    ) -> ContractRule<TransportSubject> {
        ContractRule(name) { subject in
            let peer = try LoopbackPeer(serve)
            defer { peer.stop() }
            try await check(subject, peer)
        }
    }

    /// A rule with a server that responds to every request with the same bytes.
    static func rule(
        _ name: String, responding text: String,
        check: @escaping @Sendable (TransportSubject, LoopbackPeer) async throws -> Void
    ) -> ContractRule<TransportSubject> {
        rule(name, serving: { while $0.readRequest() != nil { guard $0.send(text) else { return } } }, check: check)
    }

    /// A rule that responses are errors, each of a server that sends these bytes and closes the connection.
    static func rule(
        _ name: String, refusing responses: [String], as codes: Set<NetworkError.Code>? = nil
    ) -> ContractRule<TransportSubject> {
        ContractRule(name) { subject in
            for text in responses {
                do {
                    try await subject.expectError(codes) { try await subject.response(to: text) }
                } catch let broken as RuleBroken {
                    throw RuleBroken("\(text.debugDescription): \(broken.observed)")
                }
            }
        }
    }

    /// A rule that responses are read with these bodies, each of a server that sends it and closes the connection.
    static func rule(
        _ name: String, reading responses: [(bytes: Data, body: String)]
    ) -> ContractRule<TransportSubject> {
        ContractRule(name) { subject in
            for (number, (bytes, body)) in responses.enumerated() {
                let response = try await subject.response(to: bytes)
                let isRead = response.status == 200 && response.body == Data(body.utf8)
                let observed = "\(response.status), and a body of \(response.body.count) bytes"
                try expect(isRead, otherwise: "response number \(number + 1) was read as \(observed)")
            }
        }
    }

    static func rule(_ name: String, reading text: String, as body: String) -> ContractRule<TransportSubject> {
        rule(name, reading: [(Data(text.utf8), body)])
    }

    static let all = messages + bodies + failures + waits + streaming + connections
}
