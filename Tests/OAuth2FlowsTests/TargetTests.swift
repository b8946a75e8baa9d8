import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import HandlerTesting
import OAuth2Flows
import Testing

/// Resource indicators (RFC 8707) and names of servers, at every call that asks for tokens.
@Suite(.timeLimit(.minutes(10))) struct TargetTests {
    private func target() throws -> OAuth2Target {
        try OAuth2Target(resources: [.api, .tokenEndpoint], audiences: ["notes"])
    }

    private func expectTarget(_ call: LoopbackProvider.Call?) {
        #expect(call?["resource"] == [URL.api.absoluteString, URL.tokenEndpoint.absoluteString])
        #expect(call?["audience"] == ["notes"])
    }

    @Test func `a refresh names its target, and none without one`() async throws {
        let provider = try LoopbackProvider()
        var handler = provider.handler()
        _ = try await handler.refresh(.fixture)
        handler.target = try target()
        _ = try await handler.refresh(.fixture)
        #expect(provider.calls.first?.names == ["grant_type", "refresh_token", "client_id"])
        expectTarget(provider.calls.last)
    }

    @Test func `a refused target does not end the session, and the error says what to check`() async throws {
        let provider = try LoopbackProvider { _ in .json(#"{"error":"invalid_target"}"#, status: 400) }
        let error = await provider.handler().refreshError()
        #expect(error?.code == .unavailable && error?.serverCode == "invalid_target")
        #expect(error?.reason?.contains("check the resources and audiences of the target") == true)
    }

    @Test func `a device sign-in names its target when it asks for the code and for the tokens`() async throws {
        let provider = try LoopbackProvider()
        var signIn = provider.deviceSignIn()
        signIn.target = try target()
        try await signIn.start(StubSession(.signedOut(.never))) { _ in }
        #expect(provider.calls.map(\.path) == ["/device", "/token"])
        for call in provider.calls { expectTarget(call) }
    }

    #if canImport(CryptoKit) || Crypto
    @Test(arguments: [true, false])
    func `a code sign-in names its target on the page or where it pushes it, and with the code`(_ isPushed: Bool)
        async throws
    {
        let provider = try LoopbackProvider()
        var signIn = provider.codeSignIn()
        (signIn.target, signIn.pushesRequest) = (try target(), isPushed)
        let userAgent = PromptUserAgent()
        try await signIn.start(StubSession(.signedOut(.never)), with: userAgent)
        expectTarget(provider.calls(at: "/token").first)
        if isPushed {
            expectTarget(provider.calls(at: "/par").first)
        } else {
            #expect(userAgent.pages.first?.values(of: "resource").count == 2)
            #expect(userAgent.pages.first?.values(of: "audience") == ["notes"])
        }
    }
    #endif

    @Test(arguments: ["api/v1", "//api.example.com", "https://api.example.com/#part", "urn:example:a#b"])
    func `a resource is an absolute URI without a fragment`(_ text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(await signInError { try OAuth2Target(resources: [url]) }?.code == .unsupported)
    }

    @Test func `a resource may be any absolute URI, and an audience has a name`() async throws {
        let urn = try #require(URL(string: "urn:example:notes"))
        #expect(try OAuth2Target(resources: [urn]).resources == [urn])
        #expect(await signInError { try OAuth2Target(audiences: [""]) }?.code == .unsupported)
    }
}
