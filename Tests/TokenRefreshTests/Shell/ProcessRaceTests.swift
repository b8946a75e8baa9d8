import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing
import TokenRefresh

/// G13: several processes over one stored session.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ProcessRaceTests {
    @Test(arguments: [2, 8])
    func `G13: processes that refresh at once cause one refresh, and all continue with its token`(count: Int)
        async throws
    {
        let host = try await PeerHost(isOpen: false)
        let peers = try await host.start(count)
        for peer in peers { #expect(await peer.said("token") == "token access-ada1-0") }
        for peer in peers { peer.tell("refuse 20") }
        for peer in peers { _ = await peer.said("event refreshStarted") }
        await host.callGate.arrivals(atLeast: 1)
        host.callGate.open()
        for peer in peers { #expect(await peer.said("refused") == "refused access-ada1-1") }
        #expect(host.server.requests == 1 && host.server.reuses == 0)
        #expect(try await host.stored()?.generation == 1)
        for peer in peers {
            peer.tell("state")
            #expect(await peer.said("state").hasPrefix("state signedIn"))
            #expect(!peer.hasSaid("event signedOut"))
            await peer.exit()
        }
    }

    @Test func `G24: while the holder of the lease is stopped, a refresh fails as unavailable and names it`()
        async throws
    {
        let temporary = TemporaryFolder()
        let (folder, clock) = (temporary.fresh(), ManualTimeSource())
        let store = FileTokenStore(folder: folder, clock: clock)
        try await store.save(.fixture())
        let process = try SpawnedProcess(
            SpawnedProcess.peer, ["storage", "hold", folder.path], environment: ProcessInfo.processInfo.environment)
        var lines = process.lines.makeAsyncIterator()
        let child = try #require(await lines.next().flatMap { pid_t($0) })
        defer { kill(child, SIGKILL) }
        process.stop()
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: store, handler, clock: clock)
        let refresh = Task { try await engine.refresh() }
        try await until { engine.status.leaseHolder != nil }
        let name = "process \(process.identifier)-"
        #expect(engine.status.leaseHolder?.description.hasPrefix(name) == true)
        try await clock.advance(by: .seconds(1), until: { !engine.status.isRefreshing })
        let error = await #expect(throws: AuthenticationError.self) { try await refresh.value }
        #expect(error?.code == .refreshUnavailable)
        #expect(error?.description.contains("held by \(name)") == true)
        #expect(engine.status.lastFailure?.reason?.contains(name) == true)
        #expect(engine.status.leaseHolder?.description.hasPrefix(name) == true, "during the pause, too")
        #expect(handler.calls.isEmpty)

        process.kill(SIGCONT)
        try process.finishInput()
        let retry = Task {
            while (try? await engine.refresh()) == nil { try Task.checkCancellation() }
        }
        try await clock.advance(
            by: .milliseconds(50), until: { handler.calls.count == 1 && !engine.status.isRefreshing })
        try await retry.value
        #expect(engine.status.leaseHolder == nil && engine.status.lastFailure == nil)
    }

    @Test func `G13: processes that refresh one after the other cause one refresh: the later ones adopt its tokens`()
        async throws
    {
        let host = try await PeerHost()
        let peers = try await host.start(3)
        for peer in peers { #expect(await peer.said("token") == "token access-ada1-0") }
        for peer in peers {
            peer.tell("refuse 5")
            #expect(await peer.said("refused") == "refused access-ada1-1")
            await peer.exit()
        }
        let late = try await host.start(1)
        for peer in late { #expect(await peer.said("token") == "token access-ada1-1") }
        #expect(host.server.requests == 1)
        for peer in late { await peer.exit() }
    }

    @Test func `G12, G13: when a process is killed before its call, the others continue`() async throws {
        let host = try await PeerHost(isOpen: false)
        let (victim, others) = try await startRefresh(on: host)
        await victim.kill()
        for peer in others { peer.tell("refuse 20") }
        await host.callGate.arrivals(atLeast: 2)
        host.callGate.open()
        try await expectNewToken(of: others, host)
        #expect(host.server.requests == 1 && host.server.reuses == 0)
    }

    @Test func `G12, G13: when it is killed after the rotation, the others get the same tokens in the grace window`()
        async throws
    {
        let host = try await PeerHost(hasGraceWindow: true)
        host.responseGate.close()
        let (victim, others) = try await startRefresh(on: host)
        await host.responseGate.arrivals(atLeast: 1)
        await victim.kill()
        host.responseGate.open()
        for peer in others { peer.tell("refuse 20") }
        try await expectNewToken(of: others, host)
        #expect(host.server.rotations == 1 && host.server.requests == 2 && host.server.reuses == 0)
    }

    @Test func `G13: processes that refresh in any order spend no refresh token twice and sign no user out`()
        async throws
    {
        let host = try await PeerHost()
        let peers = try await host.start(4)
        for peer in peers { _ = await peer.said("token") }
        for peer in peers { peer.tell("spin 10") }
        for peer in peers {
            // On a busy machine one of them may not get its turn in time; that costs a request and no session.
            #expect(["spun ", "spun storeUnavailable"].contains(await peer.said("spun")))
            #expect(!peer.hasSaid("event signedOut"))
        }
        #expect(host.server.rotations >= 10)
        #expect(host.server.requests == host.server.rotations && host.server.reuses == 0)
        #expect(try await host.stored()?.generation == host.server.rotations)
        for peer in peers { await peer.exit() }
    }

    @Test func `G13: a sign-out in one process ends the session of the other at its next refresh, without a call`()
        async throws
    {
        let host = try await PeerHost()
        let peers = try await host.start(2)
        for peer in peers { _ = await peer.said("token") }
        peers[0].tell("signOut")
        _ = await peers[0].said("signedOut")
        peers[1].tell("refuse 5")
        #expect(await peers[1].said("refused") == "refused sessionEnded")
        peers[1].tell("state")
        #expect(await peers[1].said("state") == "state signedOut(AuthInterface.SignOutReason.byUser)")
        #expect(host.server.requests == 0)
        for peer in peers { await peer.exit() }
    }

    /// Expects that processes continue with the next token, which is stored.
    private func expectNewToken(of peers: [PeerProcess], _ host: PeerHost) async throws {
        for peer in peers {
            #expect(await peer.said("refused") == "refused access-ada1-1")
            #expect(!peer.hasSaid("event signedOut"))
            await peer.exit()
        }
        #expect(try await host.stored()?.generation == 1)
    }

    /// Starts three processes, one of which holds the lease and has called the server.
    private func startRefresh(on host: PeerHost) async throws -> (victim: PeerProcess, others: [PeerProcess]) {
        var peers = try await host.start(3)
        for peer in peers { #expect(await peer.said("token") == "token access-ada1-0") }
        let victim = peers.removeFirst()
        victim.tell("refuse 20")
        _ = await victim.said("refresh")
        return (victim, peers)
    }
}
