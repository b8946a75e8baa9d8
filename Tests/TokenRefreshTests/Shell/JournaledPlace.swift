import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting

@testable import TokenRefresh

/// The store and the journal of one user, or of a client, and the processes that use them. Time stands still, so that
/// no limit passes on a busy machine: a process whose store or journal hangs counts as killed.
struct JournaledPlace: Sendable {
    let clock: ManualTimeSource
    let base: RecordingTokenStore
    let journal = MemorySessionJournal()
    let server = RotatingTokenServer(lifetime: .seconds(86_400))
    private let isClient: Bool

    init(isClient: Bool = false) {
        self.isClient = isClient
        clock = ManualTimeSource()
        base = RecordingTokenStore(clock: clock)
    }

    /// What is stored: `ada1 g0`. `nil`: no tokens.
    var stored: String? { base.bundle?.token.name }

    func start(_ kind: Bench.StoreKind) -> Bench {
        Bench(kind, over: base, server, clock, journal: journal, isClient: isClient)
    }

    /// A process that has signed ada in. The subject of a user is known.
    func signedIn(_ kind: Bench.StoreKind) async throws -> Bench {
        let process = start(kind)
        try await process.engine.signIn(login("ada"))
        _ = await process.engine.settle()
        return process
    }

    func login(_ user: String) -> TokenRefreshResult {
        var tokens = server.signIn(user)
        tokens.subject = TokenSubject(issuer: "https://issuer.example", id: user)
        return tokens
    }
}
