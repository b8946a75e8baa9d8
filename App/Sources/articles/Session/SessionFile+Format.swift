import AuthInterface
import Crypto
import Foundation

/// A session on its way from one store to another.
struct MovedSession: Codable, Hashable {
    let baseURL: String
    let bundle: TokenBundle
    /// The date of the tombstone in the store that the session leaves.
    let leftAt: TimeInterval

    init(_ bundle: TokenBundle, _ tombstone: SessionTombstone, baseURL: URL) {
        self.baseURL = baseURL.absoluteString
        self.bundle = bundle
        leftAt = tombstone.date.timeIntervalSinceReferenceDate
    }

    /// Whether the content of a store is what this move has left there, and no other move of the session.
    func hasLeft(_ stored: StoredSession?) -> Bool {
        guard case .tombstone(let tombstone)? = stored else { return false }
        return tombstone.reason == .moved && tombstone.session == bundle.session
            && tombstone.date.timeIntervalSinceReferenceDate == leftAt
    }
}

/// The format.
extension SessionFile {
    static func padded(_ state: State) -> String {
        state.rawValue.padding(toLength: stateLength, withPad: " ", startingAt: 0)
    }

    static func text(of session: MovedSession, _ state: State) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(session)
        return Data("\(title)\(padded(state))\n\(checksum(of: body))\n".utf8) + body + Data("\n".utf8)
    }

    private static func checksum(of data: Data) -> String {
        SHA256.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func state(in data: Data, named name: String) throws -> State {
        guard !data.isEmpty else { return .exporting }
        let line = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.hasPrefix(title), line.count == title.count + stateLength,
            let state = State(rawValue: line.dropFirst(title.count).trimmingCharacters(in: .whitespaces))
        else { throw Failure("\(name) is not a file of 'articles session export'", .unusableInput) }
        guard state == .streaming else { return state }
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.count == 5 && Data(lines[3]) == Data(State.moved.rawValue.utf8) ? .moved : .exporting
    }

    /// The session in the content of a file.
    ///
    /// - Throws: ``Failure`` when it is damaged.
    static func content(of data: Data, named name: String) throws -> MovedSession {
        _ = try state(in: data, named: name)
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 3, Data(lines[1]) == Data(checksum(of: lines[2]).utf8),
            let session = try? JSONDecoder().decode(MovedSession.self, from: lines[2])
        else { throw Failure("\(name) is damaged: it is not complete, or was changed", .unusableInput) }
        return session
    }
}
