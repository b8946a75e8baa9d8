import AuthInterface

@testable import TokenRefresh

/// One thing that can happen in a world, in most cases to a process, to one of its calls or in its store.
///
/// Both drivers choose among these: the simulation takes one by chance, the exploration each that its bounds allow.
struct Step {
    /// Calls, jobs of the store, requests and timers are named by their place.
    enum Kind {
        // The life of a process.
        case start, crash, announceSuspension, suspend, resume

        // Its users and their requests.
        case signIn(user: String, isBlind: Bool = false)
        /// The user of the session signs in again: with a refresh token, or without.
        case stepUp
        case signOut(SignOutReason, isBlind: Bool = false)
        case request(endpoint: Int)
        case restore, refresh, settle
        /// The resource server accepts, or refuses, the token of a request.
        case serveRequest(Int), refuseRequest(Int)
        /// A refused request requests another token.
        case replaceToken(request: Int, saysTokenIsInvalid: Bool = false)
        case cancelRequest(Int)

        // Its calls.
        case writeCall(Int)
        case serveCall(Int)
        case respond(Int)
        /// The server, or a gateway before it, fails. Whether the refresh is done stays as it is.
        indirect case refuseCall(Int, TokenRefreshError)
        case answerFromCache(Int)
        /// The connection breaks. What is on its way to the server arrives.
        case endCall(Int)
        case hangCall(Int, isDeaf: Bool)

        // Its store.
        case work(Int)
        case giveLease(job: Int)
        indirect case failWork(Int, TokenStoreError)
        case report(Int)
        case storeChanged, noticeLosses, cutLease
        /// What shows who holds the lease is removed (``ExplorationBounds/Resource/removal``).
        case removeLease

        // Timers and clocks.
        case pass, fire(timer: Int), setClock(days: Int), noteDate

        // The condition of store and servers, for all processes or for this one.
        case setStore(DeviceStore.Condition, isOwn: Bool)
        case setJournal(DeviceJournal.Condition)
        case emptyStore
        case backUp
        case stopServer, refuseEverything, expireTokens, revoke(family: Int), recoverServers
    }

    let process: Int
    let kind: Kind
    /// The time to which the step waits.
    let time: Int?

    init(_ process: Int, _ kind: Kind, at time: Int? = nil) {
        (self.process, self.kind, self.time) = (process, kind, time)
    }
}

extension World {
    /// Takes a step. What it leaves to chance follows from the rates of the plan.
    mutating func take(_ step: Step, _ draws: inout RandomDraws) {
        let process = step.process
        if let time = step.time { moveTime(to: time) }
        if isTraced { note("p\(process + 1) \(step.kind)") }
        switch step.kind {
        case .start: processes[process] = newProcess(process)
        case .crash: crash(process)
        case .announceSuspension: announceSuspension(of: process)
        case .suspend: suspend(process)
        case .resume: resume(process)

        case .signIn(let user, let isBlind): signIn(process, as: user, isBlind: isBlind)
        case .stepUp: stepUp(process)
        case .signOut(let reason, let isBlind): signOut(process, as: reason, isBlind: isBlind)
        case .request(let endpoint): sendRequest(process, endpoint: endpoint)
        case .restore: ask(process, for: .restore, .restore)
        case .refresh: ask(process, for: .refresh, .refresh)
        case .settle: ask(process, for: .settle, .settle)
        case .serveRequest(let index): processes[process].requests.remove(at: index)
        case .refuseRequest(let index): refuse(request: index, of: process)
        case .replaceToken(let index, let isInvalid): replaceToken(of: index, process, isInvalid: isInvalid)
        case .cancelRequest(let index): cancel(request: index, of: process)

        case .writeCall(let index): write(call: index)
        case .serveCall(let index): serve(index)
        case .respond(let index): respond(index, &draws)
        case .refuseCall(let index, let error): refuse(call: index, error)
        case .answerFromCache(let index): answerFromCache(index)
        case .endCall(let index): end(index)
        case .hangCall(let index, let isDeaf): (calls[index].isHung, calls[index].isDeaf) = (true, isDeaf)

        case .work(let index): work(on: index, of: process, &draws)
        case .giveLease(let index): giveLease(for: index, to: process)
        case .failWork(let index, let error): failWork(index, of: process, error, &draws)
        case .report(let index): report(index, to: process)
        case .storeChanged: storeChanged(process)
        case .noticeLosses: noticeLosses(process)
        case .cutLease: store.lease?.silentSince = now
        case .removeLease: removeLease()

        case .pass: break
        case .fire(let timer): fire(process, timer: timer)
        case .setClock(let days): setClock(by: days)
        case .noteDate: send(process, .serverDateNoted(serverDate))

        case .setStore(let condition, isOwn: false): store.condition = condition
        case .setStore(let condition, isOwn: true): processes[process].storeCondition = condition
        case .setJournal(let condition): journal.condition = condition
        case .emptyStore: loseContent()
        case .backUp: backUp()
        case .stopServer: isServerDown = true
        case .refuseEverything: refusesEverything = true
        case .expireTokens: server.expiredBefore = now
        case .revoke(let family): server.families[family].isRevoked = true
        case .recoverServers: (isServerDown, refusesEverything) = (false, false)
        }
    }
}
