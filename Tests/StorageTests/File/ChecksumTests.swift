import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The checksum of a stored session")
struct ChecksumTests {
    @Test func `the checksum is CRC-64/XZ, with the check value of the catalogue`() {
        #expect(CRC64.text(of: "123456789".utf8) == "995dc9bbdf1939fa")
        #expect(CRC64.text(of: "".utf8) == "0000000000000000")
    }

    @Test func `S19: a file with any flipped bit is corrupt`() throws {
        let ending = SessionEnding(status: 400, code: "invalid_grant", date: Date(timeIntervalSinceReferenceDate: 8e8))
        let sessions: [StoredSession] = [
            .active(.complete), .empty,
            .tombstone(
                SessionTombstone(
                    session: SessionID(), reason: .expired(ending), date: Date(), upTo: SessionOrdinal(at: Date()))),
            .tombstone(SessionTombstone(session: SessionID(), reason: .application("disabled"), date: Date())),
            .tombstone(SessionTombstone(session: SessionID(), reason: .lost(nil), date: Date())),
        ]
        for session in sessions {
            var data = try TokenEnvelope.encode(session)
            #expect(try TokenEnvelope.decode(data) as StoredSession == session)
            for bit in 0..<data.count * 8 {
                data[bit / 8] ^= 1 << (bit % 8)
                #expect(isCorrupt(data), "bit \(bit % 8) of byte \(bit / 8)")
                data[bit / 8] ^= 1 << (bit % 8)
            }
        }
    }

    private func isCorrupt(_ data: Data) -> Bool {
        do {
            _ = try TokenEnvelope.decode(data) as StoredSession
            return false
        } catch {
            return error.code == .corrupt
        }
    }
}

extension TokenBundle {
    fileprivate static let complete = TokenBundle(
        accessToken: "access-\u{e9}",
        refreshToken: "refresh-1",
        expiresAt: Date(timeIntervalSinceReferenceDate: 800_000_000.25),
        clockSkew: -1.5,
        session: SessionID(rawValue: "session-1"),
        generation: 7,
        receivedAt: Date(timeIntervalSinceReferenceDate: 799_996_400.25),
        refreshIntent: RefreshIntent(idempotencyKey: "key-1", owner: .current, date: Date())
    )
}
