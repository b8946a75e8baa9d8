// swift-format-ignore-file: NeverForceUnwrap

// The doubles in a program that has no test framework, as a preview or a script uses them.

import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import NetworkDoubles
import Storage
import TokenRefresh

/// Ends the program with a message if something is not so.
func require(_ holds: Bool, _ message: String) {
    if holds { return }
    FileHandle.standardError.write(Data("WithoutTestFramework: \(message)\n".utf8))
    exit(1)
}

/// Receives the issues of the doubles, which are due after each part.
final class Issues: @unchecked Sendable {  // every access holds `lock`
    private let lock = NSLock()
    private var found: [StubIssue] = []

    func add(_ issue: StubIssue) { lock.withLock { found.append(issue) } }
    func take() -> [StubIssue] {
        lock.withLock {
            defer { found = [] }
            return found
        }
    }
}

let issues = Issues()
let url = URL(string: "https://api.example.com/api/v1")!
let article = Article(id: 7, title: "Hello", content: "World")

// StubNetworkService: values in place of responses.
do {
    let network = StubNetworkService { issues.add($0) }
    network.on(.article(7), return: article)
    network.on(.article(8), return: article)
    let title = try await ArticleService(network: network).article(7).title
    require(title == "Hello" && network.calls == ["GET articles/7"], "the stub service")
}
require(issues.take().map(\.line) == [43], "a stub that is left is an issue at its line")

// StubTransport, StubSession: the whole client, with tokens, and without a server.
do {
    let session = StubSession()
    let response = StubResponse.json(["id": "7", "title": "Hello", "content": "World"])
    let transport = StubTransport(.get("articles/7") ~> .status(401), .get("articles/7") ~> response) {
        issues.add($0)
    }
    let network = NetworkClient(baseURL: url, transport: transport).authenticated(by: session)
    let read = try await network.send(.article(7))
    require(read == article, "the stub transport")
    let tokens = transport.requests.map { $0.headers["Authorization"] }
    require(tokens == ["Bearer access-ada1-0", "Bearer access-ada1-1"], "a refused request has the next token")
    require(session.calls == [.token, .replacement], "the calls of the stub session")
}

// ScriptedRefreshHandler: the real engine, with refreshes as a test wants them.
do {
    let handler = ScriptedRefreshHandler(.failure(TokenRefreshError(.rejected)))
    let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
    try await engine.signIn(.fixture())
    require(try await engine.refresh() == .signedOut(.expired()), "a refresh that the server rejects")
    require(handler.calls.count == 1, "one call")
}

require(issues.take().isEmpty, "no issue is left")
#if os(Linux)
let maps = FileHandle(forReadingAtPath: "/proc/self/maps")?.readDataToEndOfFile() ?? Data()
let libraries = String(decoding: maps, as: UTF8.self)
require(libraries.contains("libswiftCore"), "the list of libraries")
for framework in ["libTesting", "lib_Testing", "XCTest"] {
    require(!libraries.contains(framework), "\(framework) is linked")
}
#endif
print("the doubles work without a test framework")
