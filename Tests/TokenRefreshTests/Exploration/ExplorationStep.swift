import AuthInterface

@testable import TokenRefresh

/// One thing that happens in a process, or to one of its calls.
struct ExplorationStep: Hashable {
    enum Kind: Hashable {
        // Users and requests.
        case requestsRefresh
        case sendsRequest
        case isRefused
        case retries
        case signsIn
        case signsOut

        // The store. A number names a piece of work.
        case storeWorks(Int)
        case storeFails(Int)
        case storeResponds(Int)
        case storeReportsFailure(Int)
        case leaseIsGiven(Int, AttemptID)
        case leaseIsRefused(Int, AttemptID)
        case leaseIsCut
        case leaseIsRemoved
        case noticesLoss
        case isNotifiedOfChange

        // The server. A number names a call under way.
        case serverProcesses(call: Int)
        case response(call: Int)
        case connectionBreaks(call: Int)
        case serverFails(call: Int)
        case cancelledCallEnds(call: Int)

        // Time and processes.
        case timer(RefreshTimer)
        case crashes
        case restarts
        case suspensionIsNear
        case isSuspended
        case continues

        /// What it costs. `nil`: nothing.
        var resource: ExplorationBounds.Resource? {
            switch self {
            case .requestsRefresh: .refresh
            case .sendsRequest: .request
            case .signsIn: .signIn
            case .signsOut: .signOut
            case .isNotifiedOfChange: .check
            case .storeFails, .leaseIsRefused: .failure
            case .storeReportsFailure: .misreport
            case .leaseIsCut: .cut
            case .leaseIsRemoved: .removal
            case .connectionBreaks: .lost
            case .serverFails: .busy
            case .crashes: .crash
            case .suspensionIsNear: .suspension
            case .timer(.callLimit): .limit
            case .timer(.writeDeadline), .timer(.loadDeadline), .timer(.checkDeadline): .slow
            case .retries, .timer(.deadline), .timer(.waiterDeadline), .timer(.cooldown), .timer(.storeRetry),
                .timer(.reload):
                .pause
            case .timer(.abandonment), .isRefused, .storeWorks, .storeResponds, .leaseIsGiven, .noticesLoss,
                .serverProcesses, .response, .cancelledCallEnds, .restarts, .isSuspended, .continues:
                nil
            }
        }
    }

    let process: Int
    let kind: Kind
}

extension ExplorationStep: CustomStringConvertible {
    var description: String { "p\(process + 1) \(kind)" }
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
