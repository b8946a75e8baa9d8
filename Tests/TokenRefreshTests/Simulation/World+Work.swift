import AuthInterface
import Foundation

@testable import TokenRefresh

/// What the store and the authorisation server do for the processes.
extension World {
    // MARK: The store, one operation at a time for each process

    /// Does the next thing a process wants of the store, or tells it what has come of the last one.
    mutating func workOnStore(_ process: Int) -> Bool {
        if let event = processes[process].outcome {
            processes[process].outcome = nil
            noteLook(process, event)
            if case .wrote(_, .failed) = event { excuse(process) }
            tell(process, event)
            return true
        }
        guard let operation = processes[process].operations.first else { return false }
        let waited = processes[process].waitsSince != nil
        guard store.weather != .hangs || isRelease(operation) else { return false }
        switch operation {
        case .load:
            processes[process].outcome = .loaded(read(process))
        case .reread(let id):
            processes[process].outcome = .reread(id, read(process))
        case .release(let id):
            if processes[process].held == id { letGo(process) }
        case .lease(let id):
            guard let event = lease(process, id) else { return !waited }
            processes[process].outcome = event
        case .write(let version, let content):
            guard let outcome = write(process, content) else { return !waited }
            processes[process].outcome = .wrote(version: version, outcome)
        }
        processes[process].operations.removeFirst()
        processes[process].waitsSince = nil
        return true
    }

    /// Notes what the machine learns of the store.
    private mutating func noteLook(_ process: Int, _ event: RefreshEvent) {
        switch event {
        case .loaded(let result), .reread(_, let result):
            processes[process].look = (events, (try? result.get()).map(Optional.some) ?? .none)
        case .wrote(_, .superseded(let found)): processes[process].look = (events, .some(found))
        default: break
        }
    }

    private func isRelease(_ operation: StoreWorker.Operation) -> Bool {
        if case .release = operation { true } else { false }
    }

    private mutating func read(_ process: Int) -> Result<TokenBundle?, TokenStoreError> {
        let result = store.read()
        if case .success(let found) = result { processes[process].secondLook = .some(found) }
        return result
    }

    private mutating func letGo(_ process: Int) {
        processes[process].held = nil
        if store.holder == process { store.holder = nil }
    }

    /// - Returns: `nil` while it waits.
    private mutating func lease(_ process: Int, _ id: AttemptID) -> RefreshEvent? {
        if processes[process].held != nil { letGo(process) }
        switch isFree(for: process) {
        case .some(true):
            if store.weather == .fails { return .leaseFailed(id, .weather) }
            store.holder = process
            processes[process].held = id
            return .leased(id)
        case .some(false): return .leaseFailed(id, .busyModel)
        case .none: return nil
        }
    }

    /// Whether a process may have the lease: `false` when it has waited too long, `nil` while it may wait on.
    private mutating func isFree(for process: Int) -> Bool? {
        if store.holder == nil || store.holder == process { return true }
        let since = processes[process].waitsSince ?? now
        processes[process].waitsSince = since
        return now - since >= plan.policy.leaseWait.milliseconds ? false : nil
    }

    private mutating func write(_ process: Int, _ content: StoreContent) -> WriteOutcome? {
        if isShared {
            guard let isFree = isFree(for: process) else { return nil }
            if !isFree { return .failed(.busyModel) }
        }
        let old = store.content
        let (outcome, decision) = store.write(content, isShared: isShared)
        switch decision {
        case .save(let bundle): landed(bundle, process)
        case .delete:
            if let old { judgeDeletion(process, of: old) }
            if let old { server.noteDeleted(family: Int(named: old.session.rawValue)) }
            fallthrough
        case .leave:
            if case .nothing(let session?) = content { server.noteDeleted(family: Int(named: session.rawValue)) }
        case nil: break
        }
        if isTraced {
            note("store: p\(process + 1) writes, \(outcome); it holds \(store.content?.story ?? "nothing")")
        }
        return outcome
    }

    // MARK: The authorisation server

    /// The lifetime that a client can believe, in milliseconds.
    var saidLifetime: Int? {
        plan.server.saysLifetime && plan.server.falseLifetime == nil ? plan.server.lifetime : nil
    }

    /// A refresh reaches the server, or its answer the client; or it is lost on the way.
    mutating func workOnCalls(_ dice: inout Dice) -> Bool {
        guard !calls.isEmpty else { return false }
        let index = dice.pick(calls.count)
        let call = calls[index]
        let isTroubled = !isDraining && dice.chance(plan.mood.serverTrouble)
        if call.isHung, !isDraining, !call.isOrphan, !call.isOverdue || dice.chance(70) { return false }
        if call.isCancelled, !call.isOrphan, isDraining || dice.chance(50) {
            calls.remove(at: index)
            end(call)
            return true
        }
        switch call.phase {
        case .sent where isTroubled && dice.chance(25):
            calls[index].isHung = true
            if isTraced { note("call of p\(call.process + 1) for \(call.base.story) hangs") }
        case .sent where isServerDown || (isTroubled && dice.chance(40)):
            let pause = dice.of([0, 0, 3, 30, 1_000])
            calls.remove(at: index)
            deliver(.failure(.init(.unavailable, retryAfter: pause > 0 ? .seconds(pause) : nil)), to: call)
        case .sent: serve(index)
        case .answered where isTroubled && !call.isHung && dice.chance(20):
            calls[index].isHung = true
            if isTraced { note("the response to p\(call.process + 1) for \(call.base.story) hangs") }
        case .answered where isTroubled && dice.chance(40):
            calls.remove(at: index)
            end(call)
        case .answered(.rejected, _):
            calls.remove(at: index)
            deliver(.failure(.rejected), to: call)
        case .answered(.issued(let grant), _):
            calls.remove(at: index)
            let isUnusable = !isDraining && dice.chance(plan.server.unusableTokens)
            if !call.isOrphan {
                noteReceipt(call.process, grant, isUsable: !isUnusable)
                server.noteFate(.received, of: call)
            }
            let token = isUnusable ? dice.of(["", "a\(grant) ", "a\(grant)\n", "\u{E4}\(grant)"]) : "a\(grant)"
            let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate, accessToken: token)
            deliver(.success(tokens), to: call)
        }
        return true
    }

    /// A call ends without its response.
    private mutating func end(_ call: Call) {
        if isTraced { note("call \(call.attempt.number) of p\(call.process + 1) ends without a response") }
        if !call.isOrphan { server.noteFate(.lost, of: call) }
        deliver(.failure(.unavailable), to: call)
    }

    /// The authorization server processes a call.
    private mutating func serve(_ index: Int) {
        let call = calls[index]
        judgeReuse(call)
        let answer = server.refresh(call.token, at: now)
        calls[index].phase = .answered(answer, at: now)
        if case .issued = answer {
            let fate: AuthorizationServer.Exchange.Fate = call.isOrphan ? .crashed : .underWay
            server.noteExchange(call.token, .init(call: call.number, process: call.process, fate: fate))
        }
        if isTraced { note("server answers p\(call.process + 1) for r\(call.token): \(answer)") }
    }

    /// A process receives tokens, perhaps with the time on the server's clock. It need not read the time from a response
    /// that it cannot use.
    mutating func noteReceipt(_ process: Int, _ grant: Int, isUsable: Bool = true) {
        if plan.server.saysDate, isUsable { processes[process].notes.knowsServerDate = true }
        server.noteReceipt(grant, isDated: isUsable && processes[process].notes.knowsServerDate, at: now)
    }

    private mutating func deliver(_ result: Result<TokenRefreshResult, TokenRefreshError>, to call: Call) {
        guard !call.isOrphan else { return }
        let session = call.base.session
        let isCurrent = !call.isOverdue && processes[call.process].machine.session?.bundle.session == session
        switch result {
        case .success(let tokens):
            guard tokens.accessToken.isHeaderSafe else { break }
            let mark = DeviceProcess.Notes.Mark(session: session, generation: call.base.generation + 1)
            if isCurrent, processes[call.process].machine.session?.bundle.generation == call.base.generation {
                processes[call.process].notes.received = (mark, now, saidLifetime)
            }
        case .failure(let error) where error.code == .rejected:
            guard processes[call.process].machine.session?.bundle.session == session else { break }
            processes[call.process].notes.heardNo = session
            processes[call.process].secondLook = nil
        case .failure(let error):
            let asked = min(error.retryAfter ?? .zero, plan.policy.maximumRetryAfter)
            if isCurrent { processes[call.process].notes.pause = (session, now + asked.milliseconds) }
        }
        tell(call.process, .answered(call.attempt, base: call.base, result))
    }
}

extension TokenRefreshResult {
    /// What the server sends with a grant.
    init(grant: Int, of server: AuthorizationServer, serverDate: Date, accessToken: String? = nil) {
        let plan = server.plan
        let isSent = plan.givesRefreshTokens && (plan.rotates || server.grants[grant].generation == 0)
        let lifetime = plan.falseLifetime ?? plan.lifetime
        self.init(
            accessToken: accessToken ?? "a\(grant)",
            refreshToken: isSent ? "r\(server.grants[grant].refresh)" : plan.sendsEmptyTokens ? "" : nil,
            expiresIn: plan.saysLifetime ? lifetime.map { .milliseconds($0) } : nil,
            serverDate: plan.saysDate ? serverDate : nil
        )
    }
}
