import Foundation
import TestSupport
import Testing

@testable import Peer

/// Rule 10 and the journal, by real processes that are killed.
@Suite(.timeLimit(.minutes(10))) struct KilledActTests {
    @Test(arguments: [KilledPlace.Kind.shared, .plain], KilledPeer.Act.allCases)
    func `G30: a killed sign-in or end brings back no user`(kind: KilledPlace.Kind, act: KilledPeer.Act) async throws {
        let temporary = TemporaryFolder()
        let violations = try await KillTable.violations({ _ in kind }, act, folder: temporary.fresh) { arguments in
            let peer = try SpawnedProcess(SpawnedProcess.peer, ["killed"] + arguments)
            #expect(await peer.end() == .signal(SIGKILL))
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
}
