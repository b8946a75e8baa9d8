#if canImport(AuthenticationServices)
import ArticlesUI
import AuthenticationServices
import DataAPI
import Foundation

/// Obtains the token of Sign in with Apple from the system's sheet. Other providers need their own library.
///
/// The entitlement `com.apple.developer.applesignin` needs a team of the paid Apple Developer Program: a personal team
/// cannot sign the application with it. Remove it from `App/Xcode/Reader/Reader.entitlements` to run without this
/// button.
struct SystemIdentityTokens: IdentityTokenSource {
    func token(for provider: SocialProvider) async throws -> String {
        guard provider == .apple else { throw ScreenError("providerUnavailable") }
        return try await AppleAuthorization().token()
    }
}

/// One sheet of Sign in with Apple.
@MainActor
private final class AppleAuthorization: NSObject, ASAuthorizationControllerDelegate {
    private var waiter: CheckedContinuation<String, any Error>?
    private var controller: ASAuthorizationController?

    func token() async throws -> String {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                waiter = continuation
                let request = ASAuthorizationAppleIDProvider().createRequest()
                request.requestedScopes = [.fullName]
                let controller = ASAuthorizationController(authorizationRequests: [request])
                controller.delegate = self
                self.controller = controller
                controller.performRequests()
            }
        } onCancel: {
            Task { @MainActor in self.end(.failure(CancellationError())) }
        }
    }

    // The framework calls both on the queue that it likes: before iOS 18 it declares none.
    nonisolated func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        let credential = authorization.credential as? ASAuthorizationAppleIDCredential
        let token = credential?.identityToken.flatMap { String(data: $0, encoding: .utf8) }
        Task { @MainActor in self.end(token.map { .success($0) } ?? .failure(ScreenError("unknown"))) }
    }

    nonisolated func authorizationController(
        controller: ASAuthorizationController, didCompleteWithError error: any Error
    ) {
        let isCancelled = (error as? ASAuthorizationError)?.code == .canceled
        Task { @MainActor in self.end(.failure(isCancelled ? CancellationError() : ScreenError("unknown"))) }
    }

    private func end(_ result: Result<String, any Error>) {
        waiter?.resume(with: result)
        waiter = nil
        controller = nil
    }
}
#endif
