#if PostgreSQL
import Foundation
import TestSupport
import Testing

@testable import Peer

/// Rule 10 and the journal over a database, by real processes that are killed: two hosts have journals of their own,
/// and clocks that are 10 minutes apart.
@Suite(.needsPostgreSQL, .timeLimit(.minutes(10))) struct PostgreSQLKilledActTests {
    @Test(arguments: KilledPeer.Act.allCases)
    func `G30: a process killed in a sign-in or end brings back no user`(act: KilledPeer.Act) async throws {
        let (server, temporary) = (try await PostgreSQLServer.shared, TemporaryFolder())
        let violations = try await KillTable.violations(
            { .postgreSQL(connection: server.connection, account: $0.lastPathComponent) }, act, folder: temporary.fresh
        ) { arguments in
            let peer = try SpawnedProcess(SpawnedProcess.peer, ["killed"] + arguments)
            #expect(await peer.end() == .signal(SIGKILL))
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
}
#endif
