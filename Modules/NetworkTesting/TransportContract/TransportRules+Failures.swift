import ContractTesting
import Foundation
import NetworkCore

// Servers that break off, or do not speak HTTP.
extension TransportRules {
    static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func withLength(_ length: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabcd"
    }

    static let failures: [ContractRule<TransportSubject>] = [
        ContractRule("a host that refuses the connection is connectionFailed") { subject in
            // Another server may take a port that was just closed. No server is on the first one.
            guard let url = URL(string: "http://127.0.0.1:1/") else { return }
            try await subject.expectError([.connectionFailed]) { try await subject.send(.get, url) }
        },
        ContractRule("a name that no host has is connectionFailed") { subject in
            guard let url = URL(string: "http://no-such-host.invalid/") else { return }
            try await subject.expectError([.connectionFailed]) { try await subject.send(.get, url) }
        },
        rule(
            "a connection that closes without a response is connectionFailed", refusing: [""], as: [.connectionFailed]),
        rule("a head that is cut short is an error", refusing: ["HTTP/1.1 200 OK\r\nContent-Le"]),
        rule(
            "a body that is cut short is an error", refusing: ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"]),
        rule("what arrived before a body broke off can be read") { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        } check: { subject, peer in
            var body = Data()
            do {
                let response = try await subject.perform(subject.request(.get, peer.url))
                for try await piece in response.body { body += piece }
            } catch is HTTPTransportError {
                return try expect(body == Data("half".utf8), otherwise: "\(body.count) bytes were read")
            }
            throw RuleBroken("there was no error")
        },
        rule(
            "a chunked body that is cut short is an error",
            refusing: ["", "3\r\nab", "3\r\nabc\r\n", "3\r\nabc\r\n0\r\n"].map { chunkedHead + $0 }),
        rule("a chunk whose size is no number is an error", refusing: [chunkedHead + "zz\r\nab\r\n0\r\n\r\n"]),
        rule("a connection that is reset in the body is an error") { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.resetWhenClosed()
        } check: { subject, peer in
            try await subject.expectError { try await subject.send(.get, peer.url) }
        },
        rule(
            "two different lengths are invalidResponse",
            refusing: ["2\r\nContent-Length: 4", "4\r\nContent-Length: 2", "2, 4"].map(withLength),
            as: [.invalidResponse]),
        rule(
            "a length that is no number of bytes is invalidResponse",
            refusing: [
                "9223372036854775808", "99999999999999999999", "-1", "+4", "4x", "0x4", "1e1", "four",
            ].map(withLength),
            as: [.invalidResponse]),
        rule(
            "what is not HTTP is an error",
            refusing: [
                "SSH-2.0-OpenSSH_9.2\r\n", "{\"status\": 200}\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
            ]),
        rule("HTTP/0.9 is an error", refusing: ["<html>hello</html>\r\n"]),
        rule(
            "the name of the protocol in lower case is an error",
            refusing: ["http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]),
        rule(
            "a field without a colon is an error",
            refusing: ["HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n"]),
    ]
}
