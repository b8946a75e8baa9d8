#if canImport(AuthenticationServices)
import ArticlesUI
import AuthenticationServices
import DataAPI
import Foundation

/// Obtains the token of Sign in with Apple from the system's sheet. Other providers need their own library.
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

    func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        let credential = authorization.credential as? ASAuthorizationAppleIDCredential
        if let data = credential?.identityToken, let token = String(data: data, encoding: .utf8) {
            end(.success(token))
        } else {
            end(.failure(ScreenError("unknown")))
        }
    }

    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
        let isCancelled = (error as? ASAuthorizationError)?.code == .canceled
        end(.failure(isCancelled ? CancellationError() : ScreenError("unknown")))
    }

    private func end(_ result: Result<String, any Error>) {
        waiter?.resume(with: result)
        waiter = nil
        controller = nil
    }
}
#endif
