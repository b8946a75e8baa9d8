import HTTPTypes
import Hummingbird

/// `/dev`: fault injection and statistics for a test in another process.
struct DevRoutes: Sendable {
    let database: BackendDatabase
    let feed: ArticleFeed
    let faults: FaultInjector
    let ledger: RequestLedger
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            Route(.post, "/dev/faults") { request, context in
                let plan = try await request.json(FaultPlan.self, upTo: limits.bodyBytes, in: context.exchange)
                faults.plan = plan
                return try context.exchange.success(plan)
            },
            Route(.post, "/dev/expire") { _, context in
                let epoch = try await database.startNextEpoch()
                feed.notify()
                return try context.exchange.success(["epoch": epoch])
            },
            Route(.get, "/dev/stats") { _, context in
                try context.exchange.success(ledger.statistics)
            },
        ]
    }
}
