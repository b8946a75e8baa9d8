import AuthInterface

@testable import TokenRefresh

/// The store of a device: it holds one bundle whole, answers or fails, and can be leased.
struct DeviceStore {
    enum Weather {
        case works
        case failsToRead
        case failsToWrite
        case fails
        case hangs
    }

    var content: TokenBundle?
    var weather = Weather.works
    /// Where a bundle has no refresh token, an older version of the program has stored an empty one.
    var showsEmptyTokens = false
    /// The process that holds the lease.
    var holder: Int?

    func read() -> Result<TokenBundle?, TokenStoreError> {
        switch weather {
        case .works, .failsToWrite, .hangs: .success(showsEmptyTokens ? content?.withEmptyToken : content)
        case .fails, .failsToRead: .failure(.weather)
        }
    }

    /// Does what `StoreWorker` does to a store, by the same decision.
    ///
    /// - Returns: How the write ended, and what was done.
    mutating func write(_ wanted: StoreContent, isShared: Bool) -> (WriteOutcome, StoreContent.Decision?) {
        var decision = wanted.blindDecision
        if isShared, wanted.mustLook {
            switch read() {
            case .success(let found): decision = wanted.decision(over: found)
            case .failure(let error): return (.failed(error), nil)
            }
        }
        if case .leave(let outcome) = decision { return (outcome, decision) }
        if weather == .fails || weather == .failsToWrite { return (.failed(.weather), nil) }
        switch decision {
        case .save(let bundle): content = bundle
        case .delete: content = nil
        case .leave: break
        }
        return (.written, decision)
    }
}

extension TokenBundle {
    /// The bundle with an empty refresh token in place of none.
    fileprivate var withEmptyToken: TokenBundle {
        TokenBundle(
            accessToken: accessToken,
            refreshToken: refreshToken ?? "",
            expiresAt: expiresAt,
            clockSkew: clockSkew,
            session: session,
            generation: generation
        )
    }
}

extension TokenStoreError {
    static let weather = TokenStoreError(.unavailable, reason: "bad weather")
    static let busyModel = TokenStoreError(.busy, reason: "another process has it")
}
