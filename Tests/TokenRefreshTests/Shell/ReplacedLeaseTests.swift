import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Testing

/// Rule 4: a free lock is no proof that the owner of an intent is dead, unless it is the lock that the intent names.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ReplacedLeaseTests {
    /// What a cleaner, a backup or a person does to the folder during a call.
    enum Change: CaseIterable, Sendable {
        case leaseRemoved, leaseReplaced, allLocksRemoved, folderReplacedByACopy

        func apply(to folder: URL) throws {
            let manager = FileManager.default
            let lease = folder.appendingPathComponent("default.json.lease")
            switch self {
            case .leaseRemoved: try manager.removeItem(at: lease)
            case .leaseReplaced:
                let copy = folder.appendingPathComponent("copy").path
                try manager.copyItem(atPath: lease.path, toPath: copy)
                #expect(rename(copy, lease.path) == 0)
            case .allLocksRemoved:
                for name in try manager.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".json") {
                    try manager.removeItem(at: folder.appendingPathComponent(name))
                }
            case .folderReplacedByACopy:
                let (copy, old) = (folder.path + ".copy", folder.path + ".old")
                try manager.copyItem(atPath: folder.path, toPath: copy)
                try manager.moveItem(atPath: folder.path, toPath: old)
                try manager.moveItem(atPath: copy, toPath: folder.path)
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `G8, G13: no other process spends the token while the call is under way`(change: Change) async throws {
        let host = try await PeerHost()
        host.responseGate.close()
        let peers = try await host.start(2)
        for peer in peers { #expect(await peer.said("token") == "token access-ada1-0") }
        peers[0].tell("refuse 5")
        await host.responseGate.arrivals(atLeast: 1)
        try change.apply(to: host.folder)

        peers[1].tell("refuse 5")
        #expect(["refused refreshUnavailable", "refused storeUnavailable"].contains(await peers[1].said("refused")))
        host.responseGate.open()
        #expect(await peers[0].said("refused") == "refused access-ada1-1")
        #expect(host.server.requests == 1 && host.server.reuses == 0)
        for peer in peers { #expect(!peer.hasSaid("event signedOut")) }
        // The new tokens are where a process that starts now looks for them.
        let late = try await host.start(1)
        for peer in late {
            #expect(await peer.said("token") == "token access-ada1-1")
            await peer.exit()
        }
        for peer in peers { await peer.exit() }
    }
}
