import AuthInterface
import Foundation

/// The limits within which values from servers and stores are used. Arithmetic with other values could stop the
/// process.
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
    /// The upper bound of a plausible generation.
    private static let generationLimit = 1 << 48

    /// Whether the bundle is usable: it has an access token that can be sent or a refresh token, and a plausible
    /// generation. A store that holds any other bundle counts as unreadable.
    var isUsable: Bool {
        (accessToken.isHeaderSafe || refreshToken?.isEmpty == false)
            && (0..<Self.generationLimit).contains(generation)
    }
}

extension TokenStoreError {
    /// The store holds a bundle without a usable token.
    static let unusableBundle = TokenStoreError(.corrupt, reason: "the stored bundle has no usable token")
}
