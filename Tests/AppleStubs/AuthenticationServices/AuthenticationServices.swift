// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of AuthenticationServices that Modules/OAuth2Flows and App/Sources/ArticlesApp call, so that they can be
// typechecked without an Apple SDK. It does nothing and is part of no product. It shows that our code and this stub
// agree, not that the stub and the framework do.

public final class ASAuthorization {
    public enum Scope { case fullName, email }
    public var credential: any ASAuthorizationCredential { fatalError("a stub") }
}

public protocol ASAuthorizationCredential {}

public final class ASAuthorizationAppleIDCredential: ASAuthorizationCredential {
    public var identityToken: Data? { nil }
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
    public var code: Code { .failed }
}

@MainActor
public protocol ASAuthorizationControllerDelegate: AnyObject {
    func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization)
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

@MainActor
public final class ASAuthorizationController {
    public weak var delegate: (any ASAuthorizationControllerDelegate)?
    public init(authorizationRequests: [ASAuthorizationRequest]) {}
    public func performRequests() {}
}

@MainActor
public final class ASPresentationAnchor {
    public init() {}
}

@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code { case canceledLogin, presentationContextNotProvided }
    public var code: Code { .canceledLogin }
}

@MainActor
public final class ASWebAuthenticationSession {
    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false
    public init(
        url: URL, callbackURLScheme: String?, completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) {}
    public func start() -> Bool { false }
    public func cancel() {}
}
