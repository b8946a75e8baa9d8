import AuthInterface
import Foundation
import NetworkRecording
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G17: what is shown of a response to a call that carried a credential: texts of a known format that was searched, or
/// no text.
@Suite("Texts of responses to calls with credentials", .timeLimit(.minutes(10)))
struct WithheldTextTests {
    static let secret = "s3cret-Token/0123+xyz"

    /// A call whose secret cannot be found in its body, or whose body cannot be read again.
    enum Unsearched: CaseIterable {
        case large, sequence, oneShot, file, xml, plain, html, lines, partOfJSON, manySecrets, scalar

        static let json = Data(#"{"password":"\#(secret)"}"#.utf8)
        static let jsonFile = Result { try TemporaryFile(json) }

        func body() throws -> RequestBody {
            let (data, secret) = (Self.json, WithheldTextTests.secret)
            switch self {
            case .large: return .json(["text": String(repeating: "x", count: 2_000_000), "password": secret])
            case .sequence: return .sequence(contentType: "application/json") { data.pieces }
            case .oneShot: return .oneShot(data.pieces, contentType: "application/json")
            case .file: return .file(try Self.jsonFile.get().url, contentType: "application/json")
            case .xml: return .data(Data("<p>\(secret)</p>".utf8), contentType: "application/xml")
            case .plain: return .data(Data(secret.utf8), contentType: "text/plain")
            case .html: return .data(Data("<p>\(secret)</p>".utf8), contentType: "text/html")
            case .lines: return .data(data + Data("\n".utf8) + data, contentType: "application/x-ndjson")
            case .partOfJSON: return .data(data.dropLast(), contentType: "application/json")
            case .manySecrets:
                let others = (0..<200).map { (String($0), "other-secret-\($0)") }
                return .json(["tokens": Dictionary(uniqueKeysWithValues: others), "z": ["password": secret]])
            case .scalar: return .data(Data("\"\(secret)\"".utf8), contentType: "application/json")
            }
        }
    }

    typealias Call = Endpoint<[String: [String: Int]]>

    /// The error of a call to a server that quotes a text in each place of its response, and all that is shown of the
    /// call.
    static func shown(
        of endpoint: Call, quoting quote: String, status: Int = 400, type: String = "application/json",
        body: String? = nil, token: SessionToken = .first, placement: TokenPlacement = .bearer
    ) async throws -> (error: NetworkError, texts: [String]) {
        let escaped = String(decoding: try JSONEncoder().encode(quote), as: UTF8.self)
        let json =
            #"{"code":\#(escaped),"message":\#(escaped),"meta":{"requestId":\#(escaped)},"#
            + #""errors":[{"field":\#(escaped),"code":\#(escaped),"message":\#(escaped)}]}"#
        let headers: HTTPHeaders = [
            "Content-Type": type, "X-Request-ID": quote.asFieldValue, "X-Note": quote.asFieldValue,
        ]
        let response = StubResponse.status(status, headers: headers, body: Data((body ?? json).utf8))
        let transport = StubTransport((.any ~> response).repeated())
        return try await shown(of: endpoint, by: transport, token: token, placement: placement)
    }

    /// The error of a call, and all that is shown of it.
    static func shown(
        of endpoint: Endpoint<some Sendable>, by transport: StubTransport, token: SessionToken = .first,
        placement: TokenPlacement = .bearer
    ) async throws -> (error: NetworkError, texts: [String]) {
        let (recorder, observer) = (HARRecorder(transport), Recorder<NetworkEvent>())
        let client = NetworkClient(recorder, observers: [observer]).authenticated(
            by: ScriptedTokenProvider(token), policy: AuthenticationPolicy(placement: placement))
        let error = try #require(await networkError { try await client.send(endpoint) })
        var texts = RedactionTests.texts(of: error) + observer.values.flatMap { RedactionTests.texts(of: $0) }
        texts += [error.localizedDescription, error.requestID ?? "", error.reason ?? ""]
        if let quoted = error.serverError { texts += RedactionTests.texts(of: quoted) + [quoted.localizedDescription] }
        if let cause = error.cause { texts += RedactionTests.texts(of: cause) }
        texts.append(String(decoding: try recorder.archive.encoded(), as: UTF8.self))
        return (error, texts)
    }

    @Test(arguments: Unsearched.allCases)
    func `no text of a response is shown where the call may have carried an unknown secret`(
        unsearched: Unsearched
    ) async throws {
        // In a form that no search finds.
        for quote in ["wrong: \(String(Self.secret.reversed()))", Self.secret] {
            let body = try unsearched.body()
            let (error, texts) = try await Self.shown(of: .post("x", body: body), quoting: quote)
            for text in texts { #expect(!text.contains(Self.secret) && !text.contains(quote), "\(text)") }
            let message = try #require(error.serverError?.message)
            #expect(message.wholeMatch(of: /redacted \(\d+ bytes, #[0-9a-f]{16}\)/) != nil, "\(message)")
            #expect(error.status == 400 && error.body?.isEmpty == false)
        }
    }

    @Test func `what developers need stays: status, media type, length, digest, code and request id`() async throws {
        let id = "7b1c4f0e-3a52-4d0c-9b1e-2f6a7c8d9e0f"
        let json =
            #"{"code":"AUTH_004","message":"Wrong.","meta":{"requestId":"\#(id)"},"errors":[{"field":"user.name"}]}"#
        let known = try await Self.shown(of: .post("x", body: try Unsearched.xml.body()), quoting: id, body: json).error
        #expect(known.serverError?.code == "AUTH_004" && known.requestID == id)
        #expect(known.serverError?.errors.first?.field == "user.name")
        #expect("\(known)".contains("400 AUTH_004") && "\(known)".contains("request 7b1c4f0e…"))
        let page = "<html>\(Self.secret)</html>"
        let endpoint = Call.post("x", json: ["password": Self.secret])
        for token in [SessionToken.first, .ofAnotherSession] {
            let (error, texts) = try await Self.shown(
                of: endpoint, quoting: id, status: 502, type: "text/html; charset=utf-8", body: page, token: token)
            #expect("\(error)".contains("502 (text/html, \(page.utf8.count) bytes, #"), "\(error)")
            for text in texts { #expect(!text.contains("<html") && !text.contains(Self.secret)) }
        }
    }

    @Test func `digests are equal for equal texts, and differ for others`() {
        func digest(_ text: String) -> String { Fingerprint.of(Data(text.utf8), length: text.utf8.count) }
        #expect(digest("a") == digest("a") && digest("a") != digest("b"))
        #expect(digest("").hasPrefix("0 bytes, #"))
    }

    @Test(arguments: ["hunter2", "pa55", "8301947", "pin", "é1", "Zürich"])
    func `a short secret is shown in no text`(secret: String) async throws {
        let endpoint = Call.post("login", json: ["name": "Ada", "password": secret])
        let hex = secret.utf8.map { String($0, radix: 16) }.joined()
        for quote in [
            "the password \(secret) is wrong", "x\(secret)y", secret, "(\(secret))", "\(secret)은 잘못", "E_\(secret)",
            "is \(Data("u:\(secret)".utf8).base64EncodedString())", "is \(hex)", "is \(hex.uppercased())",
        ] {
            let (_, texts) = try await Self.shown(of: endpoint, quoting: quote)
            // A word of letters is shown as a part of what looks like a code.
            for text in texts where !secret.utf8.allSatisfy(\.isLetter) || quote.contains(" ") {
                #expect(!text.contains(quote), "\(text) shows \(quote)")
                #expect(!text.contains(secret), "\(text) shows \(secret)")
            }
        }
    }

    @Test(arguments: ["a", "ab", "x"])
    func `a secret under the limit garbles nothing`(secret: String) async throws {
        let message = "The access token xab is not for a client such as a."
        let form = RequestBody.form(["client_secret": .init(secret), "grant_type": "refresh_token"])
        let (error, _) = try await Self.shown(
            of: .post("x", body: form), quoting: "",
            body: #"{"error":"invalid_grant","error_description":"\#(message)"}"#)
        #expect(error.serverError == ServerError(code: "invalid_grant", message: message))
        #expect(Redaction.minimumSecretLength == 3)
    }

    @Test(arguments: [("acc", "access_denied"), ("grant", "invalid_grant"), ("denied", "access-denied")])
    func `a short secret that is a word does not change a code`(secret: String, code: String) async throws {
        let (error, _) = try await Self.shown(
            of: .post("x", json: ["password": secret]), quoting: "",
            body: #"{"code":"\#(code)","message":"No \#(secret)ed!"}"#)
        #expect(error.serverError?.code == code)
        #expect(error.serverError?.message?.hasPrefix("redacted (") == true)
    }

    static let forms: [String] = {
        let bytes = Array(secret.utf8)
        let hex = bytes.map { String($0, radix: 16) }
        let octal = bytes.map { String(repeating: "0", count: 3 - String($0, radix: 8).count) + String($0, radix: 8) }
        let aligned = ["", "u", "us", "user:"].map { Data(($0 + secret + ":tail").utf8).base64EncodedString() }
        let lines = Data(String(repeating: "x", count: 40).utf8 + bytes).base64EncodedString(
            options: .lineLength76Characters)
        return aligned
            + aligned.map { $0.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }
            + [
                lines, hex.joined(), hex.joined().uppercased(), hex.joined(separator: ":"), hex.joined(separator: " "),
                hex.map { "0x\($0)" }.joined(separator: ", "), bytes.map { "&#0\($0);" }.joined(),
                octal.map { "\\\($0)" }.joined(), hex.map { "\\u{\($0)}" }.joined(),
                hex.map { "=\($0.uppercased())" }.joined(), hex.map { "&#x\($0);" }.joined(),
            ]
            + [
                "\\x", "\\\\x", "\\u00", "\\\\u00", "\\U000000", "%", "%25", "%2525", "%u00",
            ].map { prefix in hex.map { prefix + $0 }.joined() }
    }()

    @Test(arguments: forms)
    func `a secret is found in every encoding`(quoted: String) async throws {
        let endpoint = Call.post("x", json: ["password": Self.secret])
        let (error, texts) = try await Self.shown(of: endpoint, quoting: "no <\(quoted)> here")
        #expect(error.serverError?.message?.contains("redacted") == true, "\(error.serverError?.message ?? "")")
        for text in texts { #expect(!text.contains(quoted.dropFirst(4).dropLast(8))) }
    }

    @Test func `a password of a form that is too large for the memory is known by its part`() async throws {
        var form = MultipartForm()
        form.append("password", Self.secret)
        form.append("image", data: Data(count: 1_100_000), filename: "a.jpg", contentType: "image/jpeg")
        let (error, texts) = try await Self.shown(of: .post("x", body: .multipart(form)), quoting: "no \(Self.secret)!")
        for text in texts { #expect(!text.contains(Self.secret)) }
        #expect(error.serverError?.message == "no redacted!", "the form is searched, so that the text is shown")
    }

    @Test func `a photo carries no credential, and the message of its refusal is shown`() async throws {
        let photo = RequestBody.sequence(contentType: "image/jpeg") { Data(count: 10).pieces }
        let error = try await Self.shown(of: .post("x", body: photo), quoting: "It is too dark.").error
        #expect(error.localizedDescription == "It is too dark.")
    }

    @Test func `a member declared by a type is named, and a key of the response is not, where secrets are unknown`()
        async throws
    {
        struct Page: Decodable, Sendable { let items: [[String: Int]] }
        let json = #"{"items":[{"\#(Self.secret)":"x"}]}"#
        let call = Endpoint<Page>.post("x", body: try Unsearched.xml.body())
        let transport = StubTransport(responding: .status(200, body: Data(json.utf8)))
        let (error, texts) = try await Self.shown(of: call, by: transport)
        #expect("\(error)".contains("typeMismatch at items[0].redacted (21 bytes, #"), "\(error)")
        for text in texts { #expect(!text.contains(Self.secret)) }
    }

    @Test func `the target of a redirect is a text of the response`() async throws {
        let quoted = Self.secret.percentEncodedComponent
        let call = Endpoint<Article>.post("x", body: try Unsearched.xml.body())
        let transport = StubTransport(responding: .redirect(303, to: "/welcome/\(quoted)?q=\(quoted)"), .status(404))
        let (error, texts) = try await Self.shown(of: call, by: transport)
        for text in texts { #expect(!text.contains("s3cret") && !text.contains("welcome"), "\(text)") }
        #expect(error.request?.url == "https://api.example.com/redacted")
    }

    @Test func `a call without credentials is recorded as it was`() async throws {
        let page = StubResponse.status(200, headers: ["Content-Type": "text/html"], body: Data("<p>hello</p>".utf8))
        let recorder = HARRecorder(StubTransport(responding: page))
        let endpoint = Endpoint<Data>.get("x", query: ["page": 2]).header("Accept", "text/html")
        _ = try await NetworkClient(recorder).send(endpoint)
        #expect(recorder.archive.log.entries.first?.response.content.text == "<p>hello</p>")
    }

    @Test func `a body that is not shown is recorded by media type, length and digest`() async throws {
        let plain = StubResponse.status(200, headers: ["Content-Type": "text/plain"], body: Data("plain".utf8))
        let recorder = HARRecorder(StubTransport(responding: plain))
        _ = try await NetworkClient(recorder).send(Endpoint<Data>.post("x", body: try Unsearched.xml.body()))
        let entry = try #require(recorder.archive.log.entries.first)
        #expect(entry.request.postData?.text == "" && entry.response.content.text == nil)
        #expect(entry.request.postData?.comment?.hasPrefix("application/xml, 28 bytes, #") == true)
        #expect(entry.response.content.comment?.hasPrefix("text/plain, 5 bytes, #") == true)
        let data = try recorder.archive.encoded()
        #expect(try JSONDecoder().decode(HTTPArchive.self, from: data) == recorder.archive)
        #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
    }
}

extension String {
    /// The text without what no field can carry.
    fileprivate var asFieldValue: String {
        String(unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0.isASCII })
    }
}
