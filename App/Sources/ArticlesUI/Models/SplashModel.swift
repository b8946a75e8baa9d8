import DataAPI
import Observation

/// The screen of the launch: it waits for the stored session.
@Observable
@MainActor
package final class SplashModel {
    /// `failed` means that the store cannot be read now: the user can try again.
    package private(set) var phase = LoadPhase.idle

    @ObservationIgnored private let call = ModelCall()
    private let account: any AccountReading
    private let finish: (AutoLogin) -> Void

    init(account: any AccountReading, finish: @escaping (AutoLogin) -> Void) {
        self.account = account
        self.finish = finish
    }

    var isLaunching: Bool { call.isRunning }

    /// Restores the session. After a failure, it tries again.
    package func launch() async {
        await call.join { [self] ticket in
            phase = .loading
            do {
                let outcome = try await account.launch()
                guard ticket.isCurrent else { return }
                phase = .loaded
                finish(outcome)
            } catch {
                guard ticket.isCurrent else { return }
                phase = error.isCancellation ? .idle : .failed(ScreenError(error))
            }
        }
    }

    /// The launch did not tell whether there is a session.
    func fail(_ error: ScreenError) { phase = .failed(error) }

    /// The screen is gone: a late outcome does not count.
    func close() { call.cancel() }
}
