import AuthInterface

@testable import TokenRefresh

/// A history that breaks a law, as text: the steps, and the decisions of the machines.
struct Counterexample: CustomStringConvertible {
    let law: ProtocolLaw
    let text: String
    let lines: [String]

    var description: String {
        let numbered = lines.enumerated().map { "  \($0.offset + 1). \($0.element)" }
        return (["BROKEN: \(law.rawValue)"] + numbered + ["  => \(text)"]).joined(separator: "\n")
    }
}

extension ExplorationStep {
    /// The step in words, in the world in which it happens.
    func summary(in world: ExploredWorld) -> String {
        switch self {
        case .requestsRefresh(let slot): "p\(slot): a user requests a refresh"
        case .retries(let slot): "p\(slot): a user tries again after the pause"
        case .sendsRequest(let slot): "p\(slot): a request is sent"
        case .isRefused(let slot): "p\(slot): the request is refused"
        case .signsIn(let slot): "p\(slot): a user signs in to s\(world.signIns + 1)"
        case .signsOut(let slot): "p\(slot): the user signs out"
        case .storeWorks(let slot, let work): "the store does p\(slot)'s \(world.work(slot, work))"
        case .storeFails(let slot, let work): "the store fails p\(slot)'s \(world.work(slot, work))"
        case .storeResponds(let slot, let work): "p\(slot) gets the result of its \(world.work(slot, work))"
        case .storeReportsFailure(let slot, let work):
            "p\(slot) gets a failure of its \(world.work(slot, work))"
        case .leaseIsGiven(let slot, _): "p\(slot) is given the lease"
        case .leaseIsRefused(let slot, _): "p\(slot) is refused the lease"
        case .leaseIsCut(let slot): "p\(slot) loses its lease"
        case .leaseIsRemoved: world.model.hasClaims ? "the claim is removed" : "the lock file is replaced"
        case .noticesLoss(let slot): "p\(slot) notices that it has lost its lease"
        case .isNotifiedOfChange(let slot): "p\(slot): the store may have changed"
        case .serverProcesses(let call): "the server processes \(world.calls[call].summary)"
        case .response(let call): "the response to \(world.calls[call].summary) arrives"
        case .serverFails(let call): "the response to \(world.calls[call].summary) is 5xx"
        case .connectionBreaks(let call): "the connection of \(world.calls[call].summary) breaks"
        case .cancelledCallEnds(let call): "\(world.calls[call].summary) ends, as it was cancelled"
        case .timer(let slot, let timer): "p\(slot): \(timer.summary)"
        case .crashes(let slot): "p\(slot) is killed"
        case .restarts(let slot): "p\(slot) starts again"
        case .suspensionIsNear(let slot): "p\(slot) is about to be suspended"
        case .isSuspended(let slot): "p\(slot) is suspended"
        case .continues(let slot): "p\(slot) goes on"
        }
    }
}

extension ExploredWorld {
    fileprivate func work(_ slot: Int, _ index: Int) -> String {
        switch processes[slot].process.work[index].kind {
        case .read: "read"
        case .write(_, let content): content.summary
        }
    }
}

extension ExploredWorld.Call {
    fileprivate var summary: String { "\(slot.map { "p\($0)" } ?? "a lost connection")'s call with r\(number)" }
}

extension RefreshTimer {
    fileprivate var summary: String {
        switch self {
        case .deadline: "the deadline of the attempt passes"
        case .waiterDeadline: "the deadline of a caller passes"
        case .callLimit: "the call passes its second limit"
        case .abandonment: "the cancelled call has not ended in time"
        case .cooldown, .storeRetry, .reload: "a pause ends"
        case .writeDeadline, .loadDeadline, .checkDeadline: "the store takes too long"
        }
    }
}

extension StoreContent {
    fileprivate var summary: String {
        switch self {
        case .tombstone: "tombstone"
        case .bundle(let bundle, _):
            switch bundle.refreshIntent?.isAbandoned {
            case nil: "save of g\(bundle.generation)"
            case false where bundle.refreshIntent?.failure != nil: "failure on the intent for r\(bundle.generation)"
            case false: "intent for r\(bundle.generation)"
            case true: "mark on the intent for r\(bundle.generation)"
            }
        }
    }
}

extension RefreshAction {
    /// What the machine decided; `nil` for what says nothing new.
    var summary: String? {
        switch self {
        case .read: "reads the store"
        case .write(_, let content): "writes the \(content.summary)"
        case .lease: "requests the lease"
        case .release: "releases the lease"
        case .call(_, let base, _): "calls with r\(base.generation)"
        case .cancelCall: "cancels the call"
        case .revoke(let bundle, _): "revokes \(bundle.session)"
        case .respond(_, .token(let token)): "returns \(token.value)"
        case .respond(_, .failed(let error)): "fails a caller: \(error.code)"
        case .publish(.signedOut(let reason)): "signed out: \(reason.word)"
        case .publish(.signedIn(let session)): "signed in to \(session)"
        case .report(.adopted(_, let generation)): "adopts g\(generation)"
        case .report(.refreshed(_, let generation)): "uses g\(generation)"
        case .report(.responseDropped): "drops the response"
        case .report(.callAbandoned): "abandons the call"
        default: nil
        }
    }
}

extension SignOutReason {
    fileprivate var word: String {
        switch self {
        case .never: "never signed in"
        case .byUser: "by the user"
        case .expired: "expired"
        case .application(let text): text
        case .moved: "moved"
        }
    }
}
