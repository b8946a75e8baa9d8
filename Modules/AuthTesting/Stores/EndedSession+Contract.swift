import AuthInterface
import Foundation

extension EndedSession {
    /// The ended sessions that a shared store must keep, each with its reason.
    static func remarkable(of session: SessionID) -> [(what: String, ended: EndedSession)] {
        let ending = SessionEnding(
            status: 400,
            code: "invalid_grant",
            requestID: "contract-request",
            date: Date(timeIntervalSince1970: 1_900_000_000.625),
            process: "4711-contract"
        )
        let reasons: [(String, SignOutReason)] = [
            ("a sign-out", .byUser),
            ("an expiry without details", .expired()),
            ("an expiry with every detail", .expired(ending)),
            ("an application's reason", .application("\"disabled\" \u{e9} e\u{301} \u{1f511}")),
        ]
        return reasons.map { what, reason in
            (what, EndedSession(session: session, reason: reason, date: Date(timeIntervalSince1970: 1_900_000_001.125)))
        }
    }

    /// The names of the fields in which a read value differs from the written one.
    func fieldsThatDiffer(from other: EndedSession) -> [String] {
        var fields: [String] = []
        if !session.rawValue.hasSameBytes(as: other.session.rawValue) { fields.append("session") }
        if !Optional(date).isSame(as: other.date) { fields.append("date") }
        switch (reason, other.reason) {
        case (.byUser, .byUser), (.never, .never): break
        case (.application(let one), .application(let two)):
            if !one.hasSameBytes(as: two) { fields.append("reason.application") }
        case (.expired(let one), .expired(let two)):
            if one.status != two.status { fields.append("reason.status") }
            if one.code != two.code { fields.append("reason.code") }
            if one.requestID != two.requestID { fields.append("reason.requestID") }
            if !one.date.isSame(as: two.date) { fields.append("reason.date") }
            if one.process != two.process { fields.append("reason.process") }
        default: fields.append("reason")
        }
        return fields
    }
}

extension SharedTokenStore {
    /// Reads the content and compares it.
    func expectRead(_ content: StoredSession, _ occasion: String) async throws {
        let found = try await read()
        switch (found, content) {
        case (.empty, .empty): return
        case (.active(let one), .active(let two)):
            let fields = one.fieldsThatDiffer(from: two).joined(separator: ", ")
            try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as stored: \(fields)")
        case (.ended(let one), .ended(let two)):
            let fields = one.fieldsThatDiffer(from: two).joined(separator: ", ")
            try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as stored: \(fields)")
        default:
            throw RuleBroken("\(occasion), read returns \(found.kind) and not \(content.kind)")
        }
    }
}

extension StoredSession {
    /// The name of the case, for messages.
    var kind: String {
        switch self {
        case .empty: "empty"
        case .active: "active"
        case .ended: "ended"
        }
    }
}
