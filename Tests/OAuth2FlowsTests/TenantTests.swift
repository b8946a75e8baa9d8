#if Crypto
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@testable import OAuth2Flows

/// A server of many tenants, whose description names its issuer with a place for the tenant: Microsoft Entra ID.
@Suite(.timeLimit(.minutes(10))) struct TenantTests {
    private static let template = "https://login.example.com/{tenantid}/v2.0"
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"

    private func discover(_ issuer: String, of common: String, _ tenants: OAuth2Tenants?) async throws -> OAuth2Server {
        let body = #"{"issuer":"\#(issuer)","token_endpoint":"https://login.example.com/token"}"#
        return try await OAuth2Server.discover(
            issuer: try #require(URL(string: common)), tenants: tenants,
            network: NetworkClient(StubTransport((.any ~> .text(body)).repeated())))
    }

    @Test(arguments: ["common", "organizations"])
    func `a template is the issuer only where tenants are named`(_ place: String) async throws {
        let common = "https://login.example.com/\(place)/v2.0"
        #expect(try await discover(Self.template, of: common, .all).issuer == Self.template)
        let error = await signInError { try await discover(Self.template, of: common, nil) }
        #expect(error?.code == .mismatch && error?.reason.contains("tenants") == true)
    }

    @Test(arguments: [
        "https://evil.example.com/{tenantid}/v2.0", "https://login.example.com/{tenantid}", "{tenantid}",
        "https://login.example.com/{tenantid}/{tenantid}", "https://login.example.com/other/v2.0",
        "https://login.example.com/common/v2.0{tenantid}",
    ])
    func `another template is another issuer`(_ issuer: String) async throws {
        let common = "https://login.example.com/common/v2.0"
        #expect(await signInError { try await discover(issuer, of: common, .all) }?.code == .mismatch)
        #expect(try await discover(common, of: common, .all).issuer == common)
    }

    /// Claims of a token, whether they are of one of all tenants, and whether of one that is listed.
    static let tokens: [(issuer: String, tid: String?, ofAll: Bool, ofListed: Bool)] = [
        ("https://login.example.com/\(tenant)/v2.0", tenant, true, true),
        ("https://login.example.com/\(other)/v2.0", other, true, false),
        ("https://login.example.com/\(other)/v2.0", tenant, false, false),
        ("https://login.example.com/\(tenant)/v2.0", nil, false, false),
        ("https://login.example.com/common/v2.0", "common", false, false), (template, "{tenantid}", false, false),
        ("https://evil.example.com/\(tenant)/v2.0", tenant, false, false),
        ("https://login.example.com/\(tenant)/v1.0", tenant, false, false),
        ("https://login.example.com//v2.0", "", false, false), ("https://login.example.com/v2.0", "", false, false),
    ]

    @Test(arguments: tokens.indices)
    func `an id token is of the tenant that its issuer names, which is a GUID`(_ index: Int) async throws {
        let (issuer, tid, ofAll, ofListed) = Self.tokens[index]
        let (clock, key) = (ManualTimeSource(), ServerKey.es256("first"))
        let server = try SigningServer(clock.date, [key])
        var claims = server.claims.merging(["iss": #""\#(issuer)""#]) { $1 }
        claims["tid"] = tid.map { #""\#($0)""# }
        let text = try key.sign(claims)
        let listed = OAuth2Tenants.only([try #require(UUID(uuidString: Self.tenant))])
        for (tenants, isAccepted) in [(OAuth2Tenants.all, ofAll), (listed, ofListed)] {
            let validator = server.validator(by: clock) { ($0.issuer, $0.tenants) = (Self.template, tenants) }
            do {
                #expect(try await validator.validate(text).issuer == issuer && isAccepted)
            } catch let error as IDTokenError {
                #expect(error.code == .wrongIssuer && !isAccepted)
            }
        }
    }

    @Test func `a response may name the issuer with any of the tenants`() {
        var server = OAuth2Server(issuer: Self.template, tokenEndpoint: .tokenEndpoint)
        server.tenants = .all
        #expect(server.isIssuer("https://login.example.com/\(Self.other)/v2.0"))
        #expect(!server.isIssuer("https://login.example.com/common/v2.0") && !server.isIssuer(Self.template))
    }
}
#endif
