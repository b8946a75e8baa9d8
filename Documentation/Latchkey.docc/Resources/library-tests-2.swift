import Foundation
import NetworkTesting
import Storage
import Testing

@Suite struct LibraryTests {
    private func library() throws -> Library {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        return Library(url: url, transport: StubTransport.current, store: MemoryTokenStore())
    }

    @Test(
        .stubs(
            .post("login") ~> .json(["accessToken": "access-0", "refreshToken": "refresh-0"]),
            .get("books") ~> .json([Book(id: 1, title: "Emma")])))
    func `a reader who has signed in sees the books`() async throws {
        let library = try library()
        try await library.signIn(reader: "ada", password: "of the reader")
        #expect(try await library.books().map(\.title) == ["Emma"])
        #expect(library.screen == .books)
    }

    @Test(
        .stubs(
            .post("login") ~> .json(["accessToken": "access-0", "refreshToken": "refresh-0"]),
            .get("books") ~> .status(401),
            .post("auth/refresh") ~> .error(401, code: "REFRESH_TOKEN_EXPIRED")))
    func `a reader whose refresh token is rejected signs in again`() async throws {
        let library = try library()
        try await library.signIn(reader: "ada", password: "of the reader")
        await #expect(throws: (any Error).self) { try await library.books() }
        #expect(library.screen == .login(isExpired: true))
    }
}
