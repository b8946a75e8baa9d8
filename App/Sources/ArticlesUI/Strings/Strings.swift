package import AuthInterface
package import DataAPI
import Foundation

/// The texts of one language, from a table in the code: no bundle has to be found, and Linux needs none.
package struct Strings: Sendable {
    package let language: Language

    package init(_ language: Language) {
        self.language = language
    }

    package static var current: Strings { Strings(Language(preferred: Locale.preferredLanguages)) }

    /// A text with its arguments. An argument is never searched for names of others.
    package func callAsFunction(_ phrase: Phrase, _ arguments: [String: String] = [:]) -> String {
        var rest = template(of: phrase)[...]
        var text = ""
        while let opening = rest.firstIndex(of: "{"), let closing = rest[opening...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: opening)..<closing])
            text += rest[..<opening]
            text += arguments[name] ?? String(rest[opening...closing])
            rest = rest[rest.index(after: closing)...]
        }
        return text + rest
    }

    /// The text before its arguments are inserted. A text that is missing is the English one, and then the key.
    func template(of phrase: Phrase) -> String {
        (language == .korean ? Self.korean[phrase] : nil) ?? Self.english[phrase] ?? phrase.rawValue
    }

    /// The text of an error: what happened and what to do, then the status and the identifier for a support request.
    /// Of fields that are too long, it has their limits, and the user needs no support.
    package func message(for error: ScreenError) -> String {
        let limits = error.limits.sorted { $0.value < $1.value }.map { label, limit in
            self(.errorTooLong, ["field": self(label), "limit": "\(limit)"])
        }
        if !limits.isEmpty { return limits.joined(separator: " ") }
        let text =
            switch Phrase(errorCode: error.code, status: error.status) {
            // The server says what is wrong with the input.
            case .errorRefused?: error.detail ?? self(.errorRefused)
            case let phrase?: self(phrase)
            case nil: error.detail ?? self(.errorUnknown)
            }
        let details = [error.status.map { "HTTP \($0)" }, error.requestID].compactMap(\.self)
        return details.isEmpty ? text : "\(text) " + self(.errorDetails, ["details": details.joined(separator: ", ")])
    }

    /// Why the user has to sign in again, with the details for a support request; `nil` before the first login.
    package func explanation(of reason: SignOutReason) -> String? {
        let parts = [text(of: reason), details(of: reason)].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private func text(of reason: SignOutReason) -> String? {
        switch reason {
        case .never: nil
        case .byUser: self(.signedOutByUser)
        case .application(let text): self(.endedByApplication, ["reason": text])
        case .lost: self(.sessionLost)
        case .expired(let ending):
            [.endedByServer, Phrase(ending: ending)].compactMap(\.self).map { self($0) }.joined(separator: " ")
        }
    }

    /// The status, the server's code and the request's identifier, as far as they are known (G24).
    package func details(of reason: SignOutReason) -> String? {
        guard case .expired(let ending) = reason else { return nil }
        let known = [ending.status.map { "HTTP \($0)" }, ending.code, ending.requestID].compactMap(\.self)
        return known.isEmpty ? nil : self(.errorDetails, ["details": known.joined(separator: ", ")])
    }

    /// What the alert says before the details: why the session ended, and what the user finds after the login.
    package func message(for alert: SessionEndAlert) -> String {
        let kept = [alert.isDraftKept ? self(.draftKept) : nil, alert.isPlaceKept ? self(.signInAgain) : nil]
        return ([text(of: alert.reason)] + kept).compactMap(\.self).joined(separator: " ")
    }

    /// The progress of an upload, from 0 to 1.
    package func percentage(_ part: Double) -> String {
        // A part that is no number becomes 0: `Int` traps on it.
        let percent = part.isFinite ? Int(min(max(part, 0), 1) * 100) : 0
        return self(.uploading, ["percent": String(percent)])
    }

    package func label(for provider: SocialProvider) -> String {
        switch provider {
        case .apple: self(.signInWithApple)
        case .kakao: self(.signInWithKakao)
        default: self(.signInWith, ["provider": provider.rawValue])
        }
    }
}
