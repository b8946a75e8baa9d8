import Foundation

/// An error that a screen shows: a code with a text in the string table, and details for a support request.
///
/// Screens know errors as `LocalizedError` only. The composition translates the errors of the network into this type.
package struct ScreenError: LocalizedError, Sendable, Hashable {
    /// The code, such as `timedOut`. ``Strings`` has a text for each code of the application's errors.
    package let code: String

    package let status: Int?

    /// The identifier of the request in the server's log.
    package let requestID: String?

    /// The text of the error itself, in English, for a code without a text in the table.
    package let detail: String?

    /// The fields of a form that are too long, by their labels, with the most characters that the server takes.
    package let limits: [Phrase: Int]

    package init(
        _ code: String, status: Int? = nil, requestID: String? = nil, detail: String? = nil, limits: [Phrase: Int] = [:]
    ) {
        self.code = code
        self.status = status
        self.requestID = requestID
        self.detail = detail
        self.limits = limits
    }

    /// The error of texts that are longer than the contract of the server permits; `nil`: none is. The server counts
    /// Unicode scalars, which the `maxlength` of a browser does not.
    init?(tooLong texts: [Phrase: String]) {
        let limits: [Phrase: Int] = [.name: 50, .title: 200, .text: 20_000]
        let exceeded = limits.filter { texts[$0.key, default: ""].unicodeScalars.count > $0.value }
        if exceeded.isEmpty { return nil }
        self.init("tooLong", limits: exceeded)
    }

    package init(_ error: any Error) {
        let detail = (error as? any LocalizedError)?.errorDescription
        self = error as? ScreenError ?? ScreenError("unknown", detail: detail)
    }

    /// The text in the user's language.
    package var errorDescription: String? { Strings.current.message(for: self) }

    package var isMissing: Bool { Phrase(errorCode: code, status: status) == .errorNotFound }

    /// Whether the session may have ended. The state of the session decides.
    var mayEndSession: Bool { ["sessionEnded", "notSignedIn", "noRefreshToken"].contains(code) }
}

extension Error {
    /// Whether the call was cancelled. A screen shows no error for it.
    var isCancellation: Bool {
        self is CancellationError || (self as? ScreenError)?.code == "cancelled"
    }
}

/// How far a screen is with its content.
package enum LoadPhase: Sendable, Hashable {
    /// Nothing was requested, or the request was cancelled.
    case idle

    case loading
    case loaded
    case failed(ScreenError)

    package var error: ScreenError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
