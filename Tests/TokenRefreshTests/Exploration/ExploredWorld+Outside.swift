import AuthInterface
import Foundation

@testable import TokenRefresh

/// What the store and the server do.
extension ExploredWorld {
    // MARK: The store

    /// The store does a read or a write, in one step. The process does not know yet.
    mutating func storeWorks(_ slot: Int, _ index: Int) {
        let perspective = Perspective(slot: slot)
        let found = perspective.view(store)
        let result: ExploredProcess.StoreWork.Result
        switch processes[slot].process.work[index].kind {
        case .read:
            result = .content(found, ownerMayCall: found.bundle?.refreshIntent.map { mayStillCall($0, slot) } ?? false)
        case .write(_, let content):
            let new = replacement(content, found)
            if let bundle = new?.bundle { notePause(of: bundle) }
            if let new, !isLost(content) { put(perspective.unview(new), slot) }
            if new != nil {
                result = .outcome(.written(replaced: found.bundle))
            } else {
                result = .outcome(content.bundle == nil ? .written(replaced: nil) : .superseded(by: found))
            }
        }
        change(slot) { $0.work[index].result = result }
    }

    private func mayStillCall(_ intent: RefreshIntent, _ slot: Int) -> Bool {
        if model.flaw == .freeLeaseIsProof { return false }
        if model.flaw == .cutLeaseIsProof, !holdsLease(slot) { return false }
        return processes[slot].process.mayStillCall(intent, hasClaims: model.hasClaims)
    }

    /// Rule 7: a failure is stored, and the pause after it.
    private mutating func notePause(of bundle: TokenBundle) {
        guard let failure = bundle.refreshIntent?.failure, let token = bundle.refreshToken else { return }
        pauses[token] = .seconds(failure.date.timeIntervalSince(Self.start)) + failure.pause
    }

    /// The decision is the one that ships.
    private func replacement(_ content: StoreContent, _ found: StoredSession) -> StoredSession? {
        if model.flaw == .writesOverEverything, let bundle = content.bundle { return .active(bundle) }
        return content.replacement(for: .success(found))
    }

    private func isLost(_ content: StoreContent) -> Bool {
        guard let intent = content.bundle?.refreshIntent else { return false }
        switch model.flaw {
        case .intentsAreLost: return true
        case .marksAreLost: return intent.isAbandoned
        case .failuresAreLost: return intent.failure != nil
        default: return false
        }
    }

    private mutating func put(_ new: StoredSession, _ slot: Int) {
        switch (new, store) {
        case (.active(let bundle), _) where ended.contains(bundle.session):
            breaks(.signOutIsFinal, "p\(slot) stores tokens of \(bundle.session), which has ended")
        case (.tombstone, .active(let old)) where !processes[slot].process.known.contains(old.session):
            breaks(.spared, "p\(slot) deletes \(old.session), which another process has signed in")
        case (.empty, .active(let old)):
            breaks(.spared, "p\(slot) empties the store, which held \(old.session)")
        case (.active(let bundle), .active(let old)) where bundle.session != old.session:
            endedByUser.insert(old.session)
        default: break
        }
        store = new
        if let bundle = new.bundle, let token = bundle.refreshToken {
            everStored.insert(token)
            if let intent = bundle.refreshIntent {
                recorded.insert(RecordedIntent(refreshToken: token, key: intent.idempotencyKey))
            }
        }
        if case .tombstone(let tombstone) = new { ended.insert(tombstone.session) }
    }

    mutating func storeFails(_ slot: Int, _ index: Int) {
        let error = TokenStoreError(.unavailable, reason: "locked")
        let work = processes[slot].process.work[index]
        change(slot) { _ = $0.work.remove(at: index) }
        switch work.kind {
        case .read(let purpose): send(slot, .read(purpose, .failure(error), ownerMayCall: false))
        case .write(let version, _): send(slot, .wrote(version: version, .failed(error)))
        }
    }

    mutating func storeResponds(_ slot: Int, _ index: Int) {
        let work = processes[slot].process.work[index]
        change(slot) { _ = $0.work.remove(at: index) }
        switch (work.kind, work.result) {
        case (.read(let purpose), .content(let content, let mayCall)):
            send(slot, .read(purpose, .success(content), ownerMayCall: mayCall))
        case (.write(let version, _), .outcome(let outcome)): send(slot, .wrote(version: version, outcome))
        default: break
        }
    }

    // MARK: The server

    mutating func serverProcesses(_ index: Int) {
        let call = calls[index]
        let session = call.base.session
        let (response, text) = server.process(call.number, of: session, key: call.key)
        decisions?.append(text)
        calls[index].stage = .processed(response)
        if call.slot == nil { calls.remove(at: index) }
        // A session that a user has ended is no loss.
        guard response == .rejected, server.families[session]?.status == .revokedByReuse, !endedByUser.contains(session)
        else { return }
        if causes.isEmpty {
            breaks(.reuse, "the server revokes \(session) for re-use, and no response was lost")
        } else if model.honoursKeys, !causes.contains(.limit) {
            breaks(.reuseWithKeys, "the server revokes \(session) for re-use, although it honours keys")
        }
    }

    mutating func respond(_ index: Int) {
        let call = calls.remove(at: index)
        guard let slot = call.slot else { return }
        let result: Result<TokenRefreshResult, TokenRefreshError>
        switch call.stage {
        case .sent: return
        case .processed(.tokens(let number)): result = .success(Self.tokens(number, of: call.base.session))
        case .processed(.rejected): result = .failure(TokenRefreshError(.rejected, status: 400))
        case .failed(let status): result = .failure(TokenRefreshError(.unavailable, status: status))
        }
        send(slot, .responded(call.id, base: call.base, result))
    }

    /// The connection of a call ends. The request may still be on its way.
    mutating func breakOff(_ index: Int) {
        let call = calls[index]
        guard let slot = call.slot else { return }
        calls[index].slot = nil
        if call.stage != .sent { calls.remove(at: index) }
        send(slot, .responded(call.id, base: call.base, .failure(.unavailable)))
    }
}
