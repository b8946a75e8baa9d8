@testable import TokenRefresh

/// One thing that can happen in a process, or to one of its calls: what it costs, and what it does in the world.
struct ExplorationStep {
    let process: Int
    let name: String
    /// `nil`: it costs nothing.
    let resource: ExplorationBounds.Resource?
    let action: (inout World) -> Void

    init(
        _ process: Int,
        _ name: String,
        _ resource: ExplorationBounds.Resource? = nil,
        action: @escaping (inout World) -> Void
    ) {
        self.process = process
        self.name = name
        self.resource = resource
        self.action = action
    }
}

extension ExplorationStep: CustomStringConvertible {
    var description: String { "p\(process + 1) \(name)" }
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
