import AuthInterface
import Foundation

@testable import TokenRefresh

/// The laws of what each call may return, and of what must follow from it.
extension World {
    /// A caller gets a response of the kind that it has asked for.
    mutating func checkKind(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        var text: String { "p\(process + 1) #\(request.waiter) \(request.kind) gets \(response.text)" }
        switch (request.kind, response) {
        case (_, .cancelled): return
        case (.token, .token), (.replacement, .token), (.signIn, .done), (.signOut, .done), (.settle, .done): return
        case (.refresh, .state(.signedIn)), (.refresh, .state(.signedOut)): return
        case (.restore, .state(let state)):
            if state != processes[process].announced { fail(.calls, "\(text) in place of the state") }
            return
        case (_, .failed(let error)):
            if error.retryAfter == nil, [.refreshUnavailable, .stepUpRequired, .unauthorized].contains(error.code) {
                return fail(.calls, "\(text) without the time to wait")
            }
        default: return fail(.calls, text)
        }
        if case .failed(let error) = response, !Self.errors(of: request.kind).contains(error.code) {
            fail(.calls, "\(text) which it never may")
        }
    }

    private typealias Codes = [AuthenticationError.Code]
    private static let ofRefresh: Codes = [.noRefreshToken, .refreshUnavailable, .storeUnavailable, .stepUpRequired]
    private static let ofToken = ofRefresh + [.notSignedIn, .sessionEnded]
    private static let ofReplacement = ofRefresh + [.sessionEnded, .unauthorized]

    private static func errors(of kind: DeviceProcess.Request.Kind) -> Codes {
        switch kind {
        case .token: ofToken
        case .replacement: ofReplacement
        case .refresh: ofRefresh
        case .restore: [.storeUnavailable]
        case .signOut: [.storeUnavailable, .signOutNotStored]
        case .signIn, .settle: []
        }
    }

    /// What a response promises holds when it is given.
    mutating func checkPromise(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        var text: String { "p\(process + 1) #\(request.waiter) \(request.kind) gets \(response.text)" }
        switch (request.kind, response) {
        case (.signOut, .done):
            // A later sign-in replaces the tokens that the sign-out was to remove.
            guard let session = request.session, processes[process].current == nil,
                let stored = store.content.bundle, stored.session == session
            else { return }
            if journal.entry.ending(of: stored) == nil { fail(.signedOut, "\(text) and the tokens are stored") }
        case (.signOut, .failed), (.restore, .failed):
            if processes[process].notes.storeFailedAt < request.since { fail(.calls, "\(text) and the store works") }
        case (.settle, .done): checkSettled(process, text)
        default: break
        }
    }

    /// G12. A program ends after it has settled: nothing is left that would be lost.
    private mutating func checkSettled(_ process: Int, _ text: @autoclosure () -> String) {
        let machine = processes[process].machine.value
        // The call of a session that has ended is waited for until it has been cancelled.
        let left = processes[process].notes.left
        let isCalling = calls.contains {
            $0.process == process && !$0.isOrphan && !$0.isAbandoned
                && !($0.isCancelled && left.contains($0.base.session))
        }
        if isCalling { fail(.calls, "\(text()) during a call") }
        if machine.unsavedContent != nil { fail(.calls, "\(text()) with content that is not stored") }
        for job in processes[process].jobs {
            if case .read(.check) = job.kind { fail(.calls, "\(text()) during a check") }
            if case .read(.load) = job.kind, machine.published == .unknown { fail(.calls, "\(text()) during a read") }
        }
        checkStatus(process)
    }

    /// G24. What the status says is so.
    mutating func checkStatus(_ process: Int) {
        let (machine, current) = (processes[process].machine.value, processes[process].current?.bundle)
        let status = machine.status
        if status.state != machine.published || status.generation != current?.generation {
            fail(.status, "p\(process + 1) says \(status.state), g\(status.generation ?? -1)")
        }
        if status.isStored != (machine.unsavedContent == nil) {
            fail(.status, "p\(process + 1) says that it is stored: \(status.isStored)")
        }
        if status.isRefreshable != (current?.refreshToken != nil) {
            fail(.status, "p\(process + 1) says that it is refreshable: \(status.isRefreshable)")
        }
    }

    // MARK: Revocations

    /// G9, G13. Only what its user has left, or what has ended, is revoked. `before`: it may end with this event.
    mutating func checkRevocation(of bundle: TokenBundle, _ process: Int, _ before: MachineSnapshot) {
        let number = Int(named: bundle.session.rawValue)
        let family = server.families[number]
        let isOver =
            family.isRevoked || family.isLoggedOut || family.isRetired || ended.contains(bundle.session)
        let wasLeft = bundle.session == before.session || processes[process].notes.left.contains(bundle.session)
        if !isOver, !wasLeft, !processes[process].mustRevoke.contains(number) {
            fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue), which no user has left")
        }
    }

    /// G9. A session that its user has left is revoked, once the store knows it.
    mutating func noteRevocable(_ process: Int, _ session: SessionID?) {
        guard let session else { return }
        processes[process].mustRevoke.insert(Int(named: session.rawValue))
    }

    mutating func checkRevocations(_ process: Int) {
        for family in processes[process].mustRevoke.sorted() {
            fail(.mustRevoke, "p\(process + 1) has not revoked \(server.session(family).rawValue)")
        }
    }

    // MARK: Queued refusals

    /// G2. An attempt starts because a caller needs it: the refused token is still the one in use.
    mutating func checkNeed(_ process: Int) {
        guard let current = processes[process].current else { return }
        let urgency = current.expiry.urgency(at: instant.uptime)
        for request in processes[process].requests where request.isWaiting {
            switch request.kind {
            case .refresh: return
            case .token where urgency != .none: return
            case .replacement(let refused)
            where urgency != .none || refused.value == current.bundle.accessToken: return
            default: break
            }
        }
        fail(.lateRefusal, "p\(process + 1) refreshes \(current.bundle.traceText), which no caller needs")
    }

    /// G33. While its process may just continue after a sleep, a refresh starts only where a caller waits for it.
    mutating func checkQuiet(_ process: Int) {
        guard let current = processes[process].current, let woke = processes[process].notes.wokeAt,
            now < woke + plan.policy.wakePause.milliseconds,
            current.expiry.urgency(at: instant.uptime) == .ahead
        else { return }
        for request in processes[process].requests where request.isWaiting {
            switch request.kind {
            case .refresh, .replacement: return
            default: break
            }
        }
        fail(.quiet, "p\(process + 1) refreshes \(current.bundle.traceText) \(now - woke) ms after a wake")
    }
}
