import AuthInterface

@testable import TokenRefresh

/// One thing that happens. A number names a process, or a call under way.
enum ExplorationStep: Hashable {
    // Users and requests.
    case requestsRefresh(Int)
    case sendsRequest(Int)
    case isRefused(Int)
    case retries(Int)
    case signsIn(Int)
    case signsOut(Int)

    // The store.
    case storeWorks(Int, work: Int)
    case storeFails(Int, work: Int)
    case storeResponds(Int, work: Int)
    case storeReportsFailure(Int, work: Int)
    case leaseIsGiven(Int, AttemptID)
    case leaseIsRefused(Int, AttemptID)
    case leaseIsCut(Int)
    case leaseIsRemoved
    case noticesLoss(Int)
    case isNotifiedOfChange(Int)

    // The server.
    case serverProcesses(call: Int)
    case response(call: Int)
    case connectionBreaks(call: Int)
    case serverFails(call: Int)
    case cancelledCallEnds(call: Int)

    // Time and processes.
    case timer(Int, RefreshTimer)
    case crashes(Int)
    case restarts(Int)
    case suspensionIsNear(Int)
    case isSuspended(Int)
    case continues(Int)
}

extension RefreshTimer {
    /// An order that does not depend on the run.
    var rank: (Int, Int) {
        switch self {
        case .deadline(let id): (0, id.number)
        case .callLimit(let id): (1, id.number)
        case .abandonment(let id): (2, id.number)
        case .cooldown: (3, 0)
        case .writeDeadline(let version): (4, version)
        case .storeRetry: (5, 0)
        case .reload: (6, 0)
        case .loadDeadline: (7, 0)
        case .checkDeadline: (8, 0)
        case .waiterDeadline: (9, 0)
        }
    }
}
