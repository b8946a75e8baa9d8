import AuthInterface
import Foundation

/// What is believed of what servers and stores say. Arithmetic with anything else could stop the process.
extension Date {
    /// Whether a clock can show this date: a number, from 1970 to the year 9999.
    var isPlausible: Bool { (0...253_402_300_799).contains(timeIntervalSince1970) }
}

extension TokenRefreshResult {
    /// The result without a server date that is no date.
    var plausible: TokenRefreshResult {
        var result = self
        if serverDate?.isPlausible == false { result.serverDate = nil }
        return result
    }
}

extension TokenBundle {
    /// More refreshes than one session can have seen.
    private static let generationLimit = 1 << 48

    /// Whether the bundle can be worked with: it has a token to send or one to refresh with, and has been refreshed a
    /// number of times that can be. A store that holds any other bundle cannot say who is signed in.
    var isUsable: Bool {
        (accessToken.isHeaderSafe || refreshToken?.isEmpty == false)
            && (0..<Self.generationLimit).contains(generation)
    }
}

extension TokenStoreError {
    /// The store holds a bundle nobody can work with.
    static let unusableBundle = TokenStoreError(.corrupt, reason: "the stored bundle has no usable token")
}
