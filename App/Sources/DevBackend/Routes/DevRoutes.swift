import HTTPTypes
import Hummingbird

/// `/dev`: what a test in another process needs to make things go wrong and to see what happened.
struct DevRoutes: Sendable {
    let database: BackendDatabase
    let faults: FaultInjector
    let ledger: RequestLedger
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            Route(.post, "/dev/faults") { request, context in
                let plan = try await request.json(FaultPlan.self, upTo: limits.bodyBytes, in: context.exchange)
                faults.plan = plan
                return try context.exchange.answer(plan)
            },
            Route(.post, "/dev/expire") { _, context in
                try context.exchange.answer(["epoch": try await database.beginNextEpoch()])
            },
            Route(.get, "/dev/stats") { _, context in
                try context.exchange.answer(ledger.statistics)
            },
        ]
    }
}
