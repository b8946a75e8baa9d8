// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch
public import Foundation

// The part of AuthenticationServices that Modules/OAuth2Flows and App/Sources/ArticlesApp call. See the stub of Darwin
// for what such a stub shows.

public final class ASAuthorization {
    public enum Scope { case fullName, email }
    public let credential: any ASAuthorizationCredential
    public init(credential: any ASAuthorizationCredential) { self.credential = credential }
}

public protocol ASAuthorizationCredential {}

public final class ASAuthorizationAppleIDCredential: ASAuthorizationCredential {
    public let identityToken: Data?
    public init(identityToken: Data?) { self.identityToken = identityToken }
}

@MainActor
public class ASAuthorizationRequest {}

@MainActor
public final class ASAuthorizationAppleIDRequest: ASAuthorizationRequest {
    public var requestedScopes: [ASAuthorization.Scope]?
}

@MainActor
public final class ASAuthorizationAppleIDProvider {
    public init() {}
    public func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }
}

public struct ASAuthorizationError: Error {
    public enum Code { case canceled, failed }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}

/// Declared for the main actor since the SDK of iOS 18, and without a queue before. An application is called by the
/// system that it runs on: by one that knows nothing of the declaration, too.
@MainActor
public protocol ASAuthorizationControllerDelegate: AnyObject {
    func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization)
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

@MainActor
public final class ASAuthorizationController {
    /// What the sheets of this stub do, on a queue that is not the main one.
    public enum Outcome {
        case authorize(ASAuthorization)
        case fail(any Error)
        /// They stay.
        case stay
    }

    public static var outcome = Outcome.stay
    public private(set) static var starts = 0

    public weak var delegate: (any ASAuthorizationControllerDelegate)?
    public init(authorizationRequests: [ASAuthorizationRequest]) {}

    public func performRequests() {
        Self.starts += 1
        guard let delegate else { return }
        switch Self.outcome {
        case .authorize(let authorization):
            call(delegate.authorizationController(controller:didCompleteWithAuthorization:), authorization)
        case .fail(let error): call(delegate.authorizationController(controller:didCompleteWithError:), error)
        case .stay: break
        }
    }

    /// Calls a method of Objective-C, which knows no actors.
    private func call<Value>(_ method: @escaping @MainActor (ASAuthorizationController, Value) -> Void, _ value: Value)
    {
        typealias Method = (ASAuthorizationController, Value) -> Void
        nonisolated(unsafe) let method = unsafeBitCast(method, to: Method.self)
        nonisolated(unsafe) let value = value
        DispatchQueue.global().async { method(self, value) }
    }
}

@MainActor
public final class ASPresentationAnchor { public init() {} }

/// Called on the main queue, as the framework declares.
@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code { case canceledLogin, presentationContextNotProvided }
    public let code: Code
    public init(code: Code) { self.code = code }
}

@MainActor
public final class ASWebAuthenticationSession {
    /// On iOS it comes on the main queue, on macOS on the queue of a connection to the sign-in agent: on any queue.
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    /// What the sheets of this stub do.
    public enum Outcome {
        /// They end with a redirect or an error, on a queue that is not the main one.
        case end(URL?, (any Error)?)
        /// They are not shown. The handler may be called as well.
        case refuse(callsHandler: Bool)
        /// They stay, and end without a call of the handler when they are cancelled.
        case stay
    }

    public static var outcome = Outcome.refuse(callsHandler: false)
    public private(set) static var starts = 0

    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false

    private let completionHandler: CompletionHandler

    public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {
        self.completionHandler = completionHandler
    }

    public func start() -> Bool {
        Self.starts += 1
        switch Self.outcome {
        case .end(let url, let error):
            call(url, error)
            return true
        case .refuse(let callsHandler):
            if callsHandler { call(nil, ASWebAuthenticationSessionError(code: .presentationContextNotProvided)) }
            return false
        case .stay: return true
        }
    }

    public func cancel() {}

    private func call(_ url: URL?, _ error: (any Error)?) {
        nonisolated(unsafe) let handler = completionHandler
        DispatchQueue.global().async { handler(url, error) }
    }
}
