import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

/// What each call looks like on the wire.
@Suite struct EndpointTests {
    private let article = StubResponse.text(
        #"""
        {"success":true,"data":{"id":7,"title":"Hello","content":"World","author":{"id":1,"name":"Ada"},
        "createdAt":"2001-09-09T01:46:40Z","updatedAt":"2001-09-09T01:46:40Z"}}
        """#)

    @Test func `a page is requested from a cursor on`() async throws {
        let response = StubResponse.text(#"{"success":true,"data":{"items":[],"nextCursor":null}}"#)
        let transport = StubTransport(.get("articles") ~> response, .get("articles") ~> response)
        let network = NetworkClient(transport, .envelope)
        let page = try await network.send(.articles())
        #expect(page == Page(items: []))
        _ = try await network.send(.articles(after: Article.Cursor(rawValue: "a b&c"), limit: 5))
        #expect(transport.requests.map(\.query) == ["limit=20", "cursor=a%20b%26c&limit=5"])
    }

    @Test func `every member of an article is read`() async throws {
        let transport = StubTransport(.get("articles/7") ~> article)
        #expect(try await NetworkClient(transport, .envelope).send(.article(7)) == .fixture(7))
    }

    @Test(
        arguments: [
            (#""7f0c-a""#, "7f0c-a"), ("7", "7"), (#""7""#, "7"), ("18446744073709551615", "18446744073709551615"),
            (#""""#, nil), ("7.5", nil), ("true", nil), ("null", nil), ("[7]", nil), ("1e300", nil),
        ] as [(String, String?)])
    func `an identifier is a string or a whole number`(id: String, text: String?) async throws {
        let body = #"{"success":true,"data":{"id":\#(id),"title":"Hello","content":"World"}}"#
        let transport = StubTransport(.get("articles/7f0c-a") ~> .text(body))
        do {
            let article = try await NetworkClient(transport, .envelope).send(.article("7f0c-a"))
            #expect(article.id.rawValue == text && article.author == nil && article.createdAt == nil)
        } catch let error as NetworkError { #expect(text == nil && error.code == .decodingFailed) }
    }

    @Test func `the same number as a string and as a number is one identifier`() throws {
        let ids = try JSONDecoder().decode([Article.ID].self, from: Data(#"[7, "7"]"#.utf8))
        #expect(ids == [7, "7"] && Set(ids).count == 1)
        #expect(try JSONEncoder().encode(ids) == Data(#"["7","7"]"#.utf8))
    }

    @Test func `a list without a cursor is one page`() async throws {
        let items = #"[{"id":"a","title":"Hello","content":"World"}]"#
        let transport = StubTransport(
            .any ~> .text(#"{"success":true,"data":\#(items)}"#),
            .any ~> .text(#"{"success":true,"data":{"items":\#(items),"nextCursor":""}}"#))
        let expected = Page(items: [Article(id: "a", title: "Hello", content: "World")])
        for _ in 0..<2 { #expect(try await NetworkClient(transport, .envelope).send(.articles()) == expected) }
    }

    @Test(
        arguments: [
            ("42", "42"), ("0", "0"), (#""42""#, "42"), ("false", nil), ("null", nil), (#""""#, nil), ("true", "error"),
            ("1.5", "error"), ("{}", "error"), ("18446744073709551615", "18446744073709551615"),
        ] as [(String, String?)])
    func `a cursor is a text or a number, false is the end, and any other fails`(cursor: String, text: String?) throws {
        do {
            let page = try JSONDecoder().decode(
                Page<Article>.self, from: Data(#"{"items":[],"nextCursor":\#(cursor)}"#.utf8))
            #expect(page.nextCursor?.rawValue == text)
        } catch { #expect(text == "error" && error is DecodingError) }
    }

    @Test func `a creation that is sent twice has one idempotency key`() async throws {
        let transport = StubTransport(.post("articles") ~> article, .post("articles") ~> article)
        let network = NetworkClient(transport, .envelope)
        let creation = Endpoint.create(ArticleDraft(title: "Hello", content: "World"))
        _ = try await network.send(creation)
        _ = try await network.send(creation)
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys[0] != nil && keys[0] == keys[1])
        #expect(transport.requests.first?.json == ["title": "Hello", "content": "World"])
        #expect(Endpoint.create(ArticleDraft(title: "", content: "")).settings.idempotencyKey != keys[0])
    }

    @Test func `an update sends the changed members only`() async throws {
        let transport = StubTransport(.init(.patch, "articles/7") ~> article)
        _ = try await NetworkClient(transport, .envelope).send(.update(7, ArticleChanges(title: "Hello")))
        #expect(transport.requests.first?.json == ["title": "Hello"])
    }

    @Test func `a file key is one path segment, with any characters`() async throws {
        let transport = StubTransport(.any ~> .status(200, body: Data([1, 2])))
        let data = try await NetworkClient(transport, .envelope).send(.file(FileKey(rawValue: "../a?b.jpg")))
        #expect(transport.requests.first?.path == "api/v1/files/..%2Fa%3Fb.jpg")
        #expect(data == Data([1, 2]))
    }

    @Test func `articles need authentication, logins do not, and no registration is repeated`() {
        #expect(Endpoint.articles().settings.requiresAuthentication)
        #expect(Endpoint.article(7).settings.requiresAuthentication)
        #expect(Endpoint.me.settings.requiresAuthentication)
        #expect(Endpoint.file(FileKey(rawValue: "a")).settings.requiresAuthentication)
        #expect(!Endpoint.registerGuest(name: "Ada", photo: Data()).settings.requiresAuthentication)
        #expect(!Endpoint.socialLogin(.apple, token: "fixture").settings.requiresAuthentication)
        #expect(!Endpoint.refresh("fixture").settings.requiresAuthentication)
        #expect(!Endpoint.logout(refreshToken: "fixture").settings.requiresAuthentication)
        // A retry policy may not repeat these.
        #expect(!Endpoint.refresh("fixture").isIdempotent)
        #expect(!Endpoint.registerGuest(name: "Ada", photo: Data()).isIdempotent)
    }
}

@Suite struct LoginEndpointTests {
    private func signedIn(profileURL: String = #""https://cdn.example.com/a.jpg""#) -> StubResponse {
        .text(
            #"""
            {"success":true,"data":{"user":{"id":"0b9c-7","name":"Ada","profileUrl":\#(profileURL),"profileImageKey":"a.jpg"},
            "accessToken":"fixture-access","refreshToken":"fixture-refresh"}}
            """#)
    }

    @Test func `a guest is registered with a form of name and JPEG`() async throws {
        let transport = StubTransport(.post("auth/guest/register") ~> signedIn())
        let response = try await NetworkClient(transport, .envelope).send(
            .registerGuest(name: "Ada", photo: Data("photo".utf8)))
        let request = try #require(transport.requests.first)
        #expect(request.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.text.contains("name=\"name\"\r\n\r\nAda\r\n"))
        let image = "name=\"image\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nphoto\r\n"
        #expect(request.text.contains(image))

        let picture = URL(string: "https://cdn.example.com/a.jpg")
        let user = User(id: "0b9c-7", name: "Ada", profileURL: picture, profileImageKey: FileKey(rawValue: "a.jpg"))
        #expect(response.user == user)
        #expect(
            response.tokens.result
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-refresh", serverDate: StubResponse.date,
                    subject: TokenSubject(issuer: "user", id: "0b9c-7")))
    }

    @Test(arguments: ["null", #""""#, "7"])
    func `an invalid profile URL counts as no picture`(_ address: String) async throws {
        let transport = StubTransport(.any ~> signedIn(profileURL: address))
        let response = try await NetworkClient(transport, .envelope).send(.socialLogin(.kakao, token: "fixture"))
        #expect(response.user?.profileURL == nil)
    }

    @Test func `a social login sends the provider's token in the body`() async throws {
        let transport = StubTransport(.post("auth/social/login") ~> signedIn())
        _ = try await NetworkClient(transport, .envelope).send(.socialLogin(.kakao, token: "fixture-provider-token"))
        let request = try #require(transport.requests.first)
        #expect(request.json == ["provider": "kakao", "token": "fixture-provider-token"])
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func `no description of a login response shows its tokens`() {
        let tokens = IssuedTokens(TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        let response = SignedIn(user: User(id: 1, name: "Ada"), tokens: tokens)
        var text = "\(response) \(String(reflecting: response)) \(tokens) \(String(reflecting: tokens))"
        dump(response, to: &text)
        #expect(!text.contains("fixture-"))
    }
}
