import AuthInterface

/// The constants of a machine.
struct MachineSettings: Equatable, Sendable {
    let policy: TokenRefreshPolicy
    let isShared: Bool
    /// This process, as an intent names it.
    let owner: ProcessIdentity
    let tolerance: ReplayTolerance
    var needsRefreshToken = true
    var hasJournal = false

    /// Whether there is a way to newer tokens than these (G22).
    func canRefresh(_ bundle: TokenBundle) -> Bool { !needsRefreshToken || bundle.refreshToken?.isEmpty == false }
}
