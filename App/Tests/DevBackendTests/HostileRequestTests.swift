import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Requests that no client of ours sends: those of pages in a browser.
@Suite(.hangLimit) struct HostileRequestTests {
    private static let program = ["Host": "127.0.0.1", "Content-Type": "application/json"]

    /// What a page can send, and the status for it.
    private static let pages: [(fields: [String: String], status: Int)] = [
        (["Origin": "https://evil.example"], 403), (["Origin": "null"], 403),
        (["Origin": "http://127.0.0.1:8080"], 403),
        (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-origin"], 403),
        (["Host": "evil.example"], 403), (["Host": "127.0.0.1.evil.example"], 403),
        (["Host": "localhost.evil.example"], 403),
        (["Content-Type": "text/plain"], 415), (["Content-Type": "application/x-www-form-urlencoded"], 415),
        (["Content-Type": "text/plain; x=application/json"], 415), (["Content-Type": ""], 415),
        ([:], 200), (["Host": "LocalHost:80"], 200), (["Host": "[::1]:80"], 200),
        (["Content-Type": "application/json; charset=utf-8"], 200), (["Sec-Fetch-Site": "none"], 200),
    ]

    @Test(.server { $0.allowsDevEndpoints = true })
    func `no page of a browser can inject faults, expire tokens or read statistics`() async throws {
        let body = #"{"rules": [{"path": "/**", "action": {"kind": "respond", "status": 500}}]}"#
        for (fields, status) in Self.pages {
            let fields = Self.program.merging(fields) { $1 }.filter { !$0.value.isEmpty }
            for (method, path) in [("POST", "faults"), ("POST", "expire"), ("GET", "stats")] {
                backend.faults = FaultPlan()
                let lines = fields.map { "\($0.key): \($0.value)\r\n" }.sorted().joined()
                let response = try await RawConnection.response(
                    of: backend,
                    to: "\(method) /api/v1/dev/\(path) HTTP/1.1\r\n\(lines)Connection: close\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                let expected = status == 415 && method == "GET" ? 200 : status
                #expect(response.hasPrefix("HTTP/1.1 \(expected) "), "\(method) \(path) \(fields): \(response)")
                #expect((backend.faults == FaultPlan()) == (status != 200 || path != "faults"))
            }
        }
    }
}
