import AuthInterface
import Composition
import Foundation
import OAuth2Flows
import ProgramTesting
import Testing

/// The sources of the configuration, and the errors in one line.
@Suite struct ConfigurationTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    /// The environment of a folder with a configuration file.
    private func environment(_ file: String? = nil, _ variables: [String: String] = [:]) throws -> [String: String] {
        let folder = temporary.url.appending(path: UUID().uuidString)
        let articles = folder.appending(path: "articles")
        try FileManager.default.createDirectory(at: articles, withIntermediateDirectories: true)
        if let file { try Data(file.utf8).write(to: articles.appending(path: "config.json")) }
        return variables.merging(["XDG_CONFIG_HOME": folder.path]) { own, _ in own }
    }

    private func read(
        _ file: String? = nil, _ variables: [String: String] = [:], flags: [Setting: String] = [:]
    ) throws -> AppConfiguration {
        try AppConfiguration.read(flags: flags, environment: environment(file, variables))
    }

    @Test func `without settings the defaults apply`() throws {
        let configuration = try read()
        #expect(configuration.baseURL.absoluteString == AppConfiguration.defaultBaseURL)
        #expect(configuration.store == .file(folder: nil))
        #expect(configuration.refresh == .rest)
        #expect(configuration.replay == .sameKey)
        #expect(configuration.expiredStatus == 401)
    }

    @Test func `a flag wins over the environment, and the environment over the file`() throws {
        let file = #"{"base-url":"https://file.example.com","store":"memory","expired-status":419}"#
        let variables = ["ARTICLES_BASE_URL": "https://environment.example.com", "ARTICLES_STORE": "file"]
        let configuration = try read(file, variables, flags: [.baseURL: "https://flag.example.com"])
        #expect(configuration.baseURL.host() == "flag.example.com")
        #expect(configuration.store == .file(folder: nil))
        #expect(configuration.expiredStatus == 419)
    }

    @Test func `a variable names the configuration file, which must exist, and an empty one counts as absent`() throws {
        let usual = try environment(#"{"store":"memory"}"#, ["ARTICLES_STORE": ""])
        #expect(try AppConfiguration.read(environment: usual).store == .memory)
        let path = try #require(usual["XDG_CONFIG_HOME"]) + "/articles/config.json"
        #expect(try AppConfiguration.read(environment: ["ARTICLES_CONFIG": path]).store == .memory)
        #expect(throws: ConfigurationError.self) {
            try AppConfiguration.read(environment: ["ARTICLES_CONFIG": "/nowhere/config.json"])
        }
    }

    @Test func `a variable of an earlier version is read, named, and loses against the one of this version`() throws {
        let former = try environment(nil, ["LATCHKEY_STORE": "memory", "LATCHKEY_MODULE": "App"])
        #expect(try AppConfiguration.read(environment: former).store == .memory)
        #expect(Setting.formerVariables(in: former) == ["LATCHKEY_STORE"])
        #expect(Setting.currentName(of: "LATCHKEY_STORE") == "ARTICLES_STORE")
        let both = former.merging(["ARTICLES_STORE": "file"]) { $1 }
        #expect(try AppConfiguration.read(environment: both).store == .file(folder: nil))
    }

    @Test func `a client with a secret is confidential, and one without is public`() throws {
        let variables = ["ARTICLES_REFRESH": "oauth2", "ARTICLES_CLIENT_ID": "fixture"]
        let secret = variables.merging(["ARTICLES_CLIENT_SECRET": "fixture-secret"]) { own, _ in own }
        #expect(try read(nil, secret).refresh == .oauth2(.basic(id: "fixture", secret: "fixture-secret")))
        #expect(try read(nil, variables).refresh == .oauth2(.public(id: "fixture")))
        #expect(Setting.clientSecret.flag == nil, "other users of a machine see a process's arguments")
    }

    @Test(arguments: [("none", ReplayTolerance.none), ("key", .sameKey), ("30", .within(.seconds(30)))])
    func `the replay tolerance is read from a flag, the environment and the file`(
        _ text: String, _ tolerance: ReplayTolerance
    ) throws {
        let number = Int(text).map(String.init) ?? "\"\(text)\""
        #expect(try read(flags: [.replay: text]).replay == tolerance)
        #expect(try read(nil, ["ARTICLES_REPLAY": text]).replay == tolerance)
        #expect(try read("{\"replay\":\(number)}").replay == tolerance)
    }

    static let mistakes: [(flags: [Setting: String], words: String)] = [
        ([.baseURL: "ftp://example.com"], "--base-url must be an http or https URL"),
        ([.baseURL: "not an address"], "--base-url must be"),
        ([.baseURL: "https://user:pass@example.com"], "without user"),
        ([.baseURL: "https://example.com?a=b"], "without user, query"),
        ([.baseURL: "http://example.com"], "is http to another machine"),
        ([.store: "keychain"], "--store must be one of file"),
        ([.storePath: ""], "--store-path must name a folder"),
        ([.refresh: "magic"], "--refresh must be rest or oauth2"),
        ([.replay: "0"], "--replay must be none, key, or the server's grace window in seconds"),
        ([.replay: "sometimes"], "--replay must be none, key"),
        ([.refresh: "oauth2"], "set --client-id or ARTICLES_CLIENT_ID"),
        ([.expiredStatus: "200"], "--expired-status must be a status from 400 to 499"),
        ([.expiredStatus: "many"], "--expired-status must be"),
    ]

    @Test(arguments: mistakes.indices)
    func `an invalid flag is named in one line`(_ index: Int) throws {
        let (flags, words) = Self.mistakes[index]
        let error = #expect(throws: ConfigurationError.self) { try read(flags: flags) }
        let line = try #require(error?.description)
        #expect(line.contains(words))
        #expect(!line.contains("\n") && !line.contains("pass@"))
        #expect(error?.isUsage == true)
    }

    @Test(arguments: [
        (#"{"stor":"file"}"#, #"the key "stor""#), ("{", "is not a JSON object"),
        (#"{"store":[]}"#, "is not a JSON object"), (#"{"store":"nope"}"#, #""store" in"#),
        (#"{"profiles": []}"#, "is not a JSON object"), (#"{"profiles": {"a": 1}}"#, "the profile a in"),
        (#"{"profiles": {"../a": {}}}"#, #"the profile "../a" in"#),
        (#"{"profiles": {"default": {}}}"#, #"the profile "default" in"#),
        (#"{"profiles": {"a": {"profile": "a"}}}"#, "the profile a in"),
        (#"{"profiles": {"a": {"profiles": {}}}}"#, #"the key "profiles" in"#),
        (#"{"profiles": {"a": {"store": {}}}}"#, #""store" in"#),
        (#"{"profile": "b", "profiles": {"a": {}}}"#, "names the profile b"),
    ])
    func `an invalid configuration file is named in one line`(_ file: String, _ words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(file) }
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.contains("config.json") == true)
        #expect(error?.isUsage == false)
    }

    @Test func `a profile that has a server inherits no setting of another server`() throws {
        let file = #"""
            {"base-url": "https://a.example.com", "refresh": "oauth2", "client-id": "a", "client-secret": "fixture-a",
             "expired-status": 419, "store": "memory",
             "profiles": {"b": {"base-url": "https://b.example.com"}, "c": {"expired-status": 403}}}
            """#
        let b = try read(file, flags: [.profile: "b"])
        #expect(b.refresh == .rest && b.expiredStatus == 401 && b.store == .memory && b.profile?.rawValue == "b")
        let c = try read(file, flags: [.profile: "c"])
        #expect(c.refresh == .oauth2(.basic(id: "a", secret: "fixture-a")) && c.expiredStatus == 403)
        #expect(c.baseURL.host() == "a.example.com")
    }

    /// Another server must not receive it, however it was named.
    @Test(
        arguments: [
            ([:], [:], "fixture-a"), ([.baseURL: "https://b.example.com"], [:], nil),
            ([:], ["ARTICLES_BASE_URL": "https://b.example.com"], nil),
            ([.baseURL: "https://A.example.com:443/v2"], [:], "fixture-a"),
            ([.profile: "p"], [:], "fixture-p"), ([.profile: "p", .baseURL: "https://a.example.com"], [:], nil),
            ([.baseURL: "https://b.example.com"], ["ARTICLES_CLIENT_SECRET": "fixture-e"], "fixture-e"),
        ] as [([Setting: String], [String: String], String?)])
    func `a client's secret is used at the server beside which the file names it`(
        flags: [Setting: String], variables: [String: String], secret: String?
    ) throws {
        let file = #"""
            {"base-url": "https://a.example.com", "refresh": "oauth2", "client-id": "a", "client-secret": "fixture-a",
             "profiles": {"p": {"base-url": "https://p.example.com", "refresh": "oauth2", "client-id": "a",
                                "client-secret": "fixture-p"}}}
            """#
        let client = secret.map { OAuth2Client.basic(id: "a", secret: $0) } ?? .public(id: "a")
        #expect(try read(file, variables, flags: flags).refresh == .oauth2(client))
    }
}
