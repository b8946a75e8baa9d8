package import AuthInterface

/// The texts of the screens. `{name}` in a text is replaced by an argument of that name.
package enum Phrase: String, CaseIterable, Sendable {
    case appName, retry, cancel, dismiss, load
    case launching, launchFailed
    case signIn, signInAsGuest, signInWithApple, signInWithKakao, signInWith, signingIn
    case name, photo, pickPhoto, preparingPhoto, photoReady, uploading, register
    case endedByServer, endedByApplication, sessionEnded, sessionLost, signInAgain, signedOutByUser
    case endedReused, endedUnused, endedRevoked
    case signOut, signOutIncomplete
    case articles, noArticles, loading, loadingMore, endOfList, showsStored, newArticle, byAuthor
    case title, text, publish, publishing, publishFailed, draftKept
    case account, accountHint, accountKept
    case signInWithAccount, photoHint, refresh, loadMore, articleMissing
    case skipToContent, serverLost, accessRefused, accessHint
    case pageMissing, pageMissingHint, pageFailed, formExpired, formExpiredHint

    case errorUnknown, errorDetails
    case errorNoConnection, errorTimedOut, errorInsecure, errorServer, errorNotFound, errorForbidden, errorRefused
    case errorTooMany, errorResponse, errorRequest, errorSignIn, errorProvider, errorRefresh, errorStore, errorSignOut
    case errorCancelled
    case errorNotAnImage, errorUnsupportedImage, errorImageTooLarge, errorImageDamaged, errorImageProcessing
    case errorIncompleteGuest, errorIncompleteDraft, errorTooLong

    /// The text for the code of an error; `nil` for a code that the table does not know.
    init?(errorCode code: String, status: Int?) {
        switch code {
        case "unacceptableStatus", "unsuccessful": self.init(status: status)
        case "connectionFailed", "proxyRefused", "transportFailed": self = .errorNoConnection
        case "timedOut", "deadlineExceeded": self = .errorTimedOut
        case "tlsFailed", "cleartextRefused", "redirectRefused": self = .errorInsecure
        case "decodingFailed", "invalidResponse", "responseTooLarge", "readTooSlowly", "tooManyRedirects":
            self = .errorResponse
        case "invalidRequest", "encodingFailed", "interceptorFailed", "bodyNotReplayable", "insideRefresh",
            "followerHasNoRefreshToken", "proofRequired":
            self = .errorRequest
        case "notSignedIn", "sessionEnded", "unauthorized", "noRefreshToken", "invalidTokens", "stepUpRequired":
            self = .errorSignIn
        case "providerUnavailable": self = .errorProvider
        case "authenticationFailed", "refreshUnavailable", "notStarted": self = .errorRefresh
        case "storeUnavailable": self = .errorStore
        case "signOutNotStored": self = .errorSignOut
        case "cancelled": self = .errorCancelled
        case "incompleteGuest": self = .errorIncompleteGuest
        case "incompleteDraft": self = .errorIncompleteDraft
        case "notAnImage": self = .errorNotAnImage
        case "unsupportedFormat", "codecUnavailable": self = .errorUnsupportedImage
        case "tooManyPixels", "sourceTooLarge", "cannotFit": self = .errorImageTooLarge
        case "imageDecodingFailed": self = .errorImageDamaged
        case "imageEncodingFailed", "invalidPolicy": self = .errorImageProcessing
        default: return nil
        }
    }

    private init(status: Int?) {
        switch status {
        case 401: self = .errorSignIn
        case 403: self = .errorForbidden
        case 404, 410: self = .errorNotFound
        case 429: self = .errorTooMany
        case let status? where status >= 500: self = .errorServer
        default: self = .errorRefused
        }
    }
}

extension Phrase {
    /// Why a server has ended a session, as far as its code says so. The codes of servers differ, and their words do
    /// not.
    package init?(ending: SessionEnding) {
        let code = ending.code?.uppercased() ?? ""
        let words = [("REUSE", Phrase.endedReused), ("EXPIRED", .endedUnused), ("REVOKED", .endedRevoked)]
        guard let phrase = words.first(where: { code.contains($0.0) })?.1 else { return nil }
        self = phrase
    }
}

package enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case korean = "ko"

    /// The first of the user's languages that the screens have; English if there is none.
    ///
    /// - Parameter identifiers: BCP 47 tags, such as `ko-KR`, the preferred one first.
    package init(preferred identifiers: [String]) {
        let codes = identifiers.lazy.map { String($0.lowercased().prefix { $0 != "-" && $0 != "_" }) }
        self = codes.compactMap(Language.init(rawValue:)).first ?? .english
    }
}
