import Foundation
import NetworkCore
import Testing

@testable import NetworkURLSession

/// LE1, G16: a request without encryption never goes to a proxy that the environment names.
@Suite struct EnvironmentProxyTests {
    private func variable(_ url: String, _ environment: [String: String]) throws -> String? {
        let origin = try #require(URL(string: url).flatMap { Origin($0) })
        return EnvironmentProxy { environment[$0] }.variable(for: origin)
    }

    @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
    func `each variable that libcurl reads is named, for loopback too`(name: String) throws {
        for url in ["http://127.0.0.1:8080/a", "http://[::1]/", "http://localhost/", "http://api.example/"] {
            #expect(try variable(url, [name: "http://proxy:3128"]) == name, "\(url)")
        }
        #expect(try variable("https://api.example/", [name: "http://proxy:3128"]) == nil)
        #expect(try variable("http://127.0.0.1/", [name: ""]) == nil)
        #expect(try variable("http://127.0.0.1/", ["HTTP_PROXY": "http://proxy:3128"]) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", "http://127.0.0.1:80/", true), ("*", "http://127.0.0.1/", true),
        ("localhost, 127.0.0.1", "http://127.0.0.1/", true), ("::1", "http://[::1]:8080/", true),
        (".example", "http://api.example/", true), ("example", "http://api.example/", true),
        ("EXAMPLE", "http://api.example/", true), ("ample", "http://api.example/", false),
        ("127.0.0.10", "http://127.0.0.1/", false), ("127.0.0.0/8", "http://127.0.0.1/", false),
        ("", "http://127.0.0.1/", false),
    ])
    func `what no_proxy names goes to the server itself`(names: String, url: String, isExcepted: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let found = try variable(url, ["http_proxy": "http://proxy:3128", name: names])
            #expect((found == nil) == isExcepted, "\(name)")
        }
    }

    @Test func `the refusal names the variable and what to do`() throws {
        let origin = try #require(URL(string: "http://127.0.0.1").flatMap { Origin($0) })
        let proxy = EnvironmentProxy { $0 == "all_proxy" ? "http://proxy" : nil }
        let error = #expect(throws: HTTPTransportError.self) { try proxy.refuse(origin) }
        #expect(error?.code == .cleartextRefused && error?.reason.contains("all_proxy") == true)
        #expect(error?.reason.contains("no_proxy") == true)
    }
}
