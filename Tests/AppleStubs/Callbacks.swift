import ArticlesUI
import AuthInterface
import AuthenticationServices
import DataAPI
import Foundation
import NetworkCore

@testable import OAuth2Flows
@testable import SignInWithApple
@testable import Storage

/// Runs the shipping code that system frameworks call back, with each callback on another queue than the main one. A
/// closure that is isolated to the main actor ends this program there, as it would end an application.
@main
@MainActor
enum Callbacks {
    static func main() async {
        await check("a redirect", .end(url, nil)) { $0 == .success(url) }
        let closed = ASWebAuthenticationSessionError(code: .canceledLogin)
        await check("a sheet that the user closes", .end(nil, closed)) { $0 == .failure("denied") }
        for isCalled in [false, true] {
            await check("a sheet that is not shown", .refuse(callsHandler: isCalled)) {
                $0 == .failure("userAgentFailed")
            }
        }
        await check("a sign-in that is cancelled", .stay, isCancelled: true) { $0 == .failure("CancellationError") }
        let credential = ASAuthorizationAppleIDCredential(identityToken: Data("fixture-token".utf8))
        await check("a sign-in with Apple", .authorize(ASAuthorization(credential: credential)), "fixture-token")
        let empty = ASAuthorizationAppleIDCredential(identityToken: nil)
        await check("a sign-in with Apple without a token", .authorize(ASAuthorization(credential: empty)), "unknown")
        await check("a sign-in with Apple that fails", .fail(ASAuthorizationError(.failed)), "unknown")
        await check("one that the user closes", .fail(ASAuthorizationError(.canceled)), "CancellationError")
        await check("one that is cancelled", .stay, isCancelled: true, "CancellationError")
        await checkExpiry()
        await checkFolder()
        await checkChangeSignal()
    }

    private static let url = URL(string: "com.example.app:/callback?state=fixture-state") ?? URL(filePath: "/")

    private enum Ending: Equatable {
        case success(URL)
        case failure(String)
    }

    private static func check(
        _ name: String, _ outcome: ASWebAuthenticationSession.Outcome, isCancelled: Bool = false,
        _ isRight: (Ending) -> Bool
    ) async {
        ASWebAuthenticationSession.outcome = outcome
        let starts = ASWebAuthenticationSession.starts
        let agent = WebAuthenticationUserAgent(redirectURI: url, anchor: ASPresentationAnchor())
        let page = OAuth2SignInPage(
            endpoint: url, clientID: "fixture-client", issuer: "",
            state: "fixture-state", pkce: PKCE(), nonce: nil, thumbprint: nil, request: [:], push: nil)
        let signIn = Task { try await agent.response(to: page).response }
        if isCancelled {
            while ASWebAuthenticationSession.starts == starts { await Task.yield() }
            signIn.cancel()
        }
        let ending: Ending =
            switch await signIn.result {
            case .success(let url): .success(url)
            case .failure(let error as OAuth2SignInError): .failure("\(error.code)")
            case .failure(let error): .failure("\(type(of: error))")
            }
        report(name, isRight(ending), "\(ending)")
    }

    private static func check(
        _ name: String, _ outcome: ASAuthorizationController.Outcome, isCancelled: Bool = false, _ expected: String
    ) async {
        ASAuthorizationController.outcome = outcome
        let starts = ASAuthorizationController.starts
        let signIn = Task { try await SystemIdentityTokens().token(for: .apple) }
        if isCancelled {
            while ASAuthorizationController.starts == starts { await Task.yield() }
            signIn.cancel()
        }
        let ending: String =
            switch await signIn.result {
            case .success(let token): token
            case .failure(let error as CancellationError): "\(type(of: error))"
            case .failure(let error): "\((error as? ScreenError)?.code ?? "\(type(of: error))")"
            }
        report(name, ending == expected, ending)
    }

    private static func checkFolder() async {
        let (events, continuation) = AsyncStream<String>.makeStream()
        let folder = FileManager.default.temporaryDirectory.path
        let subscription = FolderWatcher.shared.subscribe(to: folder, "a check") { continuation.yield("\($0)") }
        var received: [String] = []
        for await event in events {
            received.append(event)
            if received.count == 2 { break }
        }
        if let subscription { FolderWatcher.shared.unsubscribe(subscription) }
        report("a change in a folder, and its end", received == ["changed", "ended"], "\(received)")
    }

    private static func checkExpiry() async {
        let (expiries, continuation) = AsyncStream<Void>.makeStream()
        let token = SystemExpiringActivity().begin("a check") { continuation.yield() }
        for await _ in expiries { break }
        token.end()
        report("an activity that expires", true, "")
    }

    private static func checkChangeSignal() async {
        let signal = DarwinChangeSignal(name: "a check")
        let reports = signal.reports
        signal.post()
        for await _ in reports { break }
        report("a change of an item in the Keychain", true, "")
    }

    private static func report(_ name: String, _ isRight: Bool, _ text: String) {
        print(isRight ? "called back: \(name)" : "wrong: \(name): \(text)")
        if !isRight { exit(1) }
    }
}
