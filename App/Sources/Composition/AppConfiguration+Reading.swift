import AuthInterface
import Foundation
import NetworkCore
import OAuth2Flows

extension AppConfiguration {
    /// Reads the configuration from flags, environment, configuration file and defaults, in this order. No other code
    /// reads any of them.
    ///
    /// - Throws: ``ConfigurationError``, which names the invalid flag, variable or key.
    package static func read(
        flags: [Setting: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> AppConfiguration {
        let sources = try SettingSources(flags: flags, environment: environment)
        var configuration = AppConfiguration(baseURL: try sources.baseURL(), store: try sources.store())
        configuration.cacheFolder = folder("XDG_CACHE_HOME", orInHome: ".cache", environment)
        configuration.refresh = try sources.refresh()
        configuration.replay = try sources.replay()
        configuration.expiredStatus = try sources.expiredStatus()
        configuration.tokenFields = try sources.tokenFields()
        configuration.profile = sources.profile
        configuration.isStoreNamed = sources[.store] != nil || sources[.storePath] != nil
        return configuration
    }

    /// The application's folder in one of the XDG Base Directory Specification (0.8), which ignores a relative path.
    static func folder(_ variable: String, orInHome name: String, _ environment: [String: String]) -> URL {
        let xdg = environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = xdg ?? "\(environment["HOME"] ?? NSHomeDirectory())/\(name)"
        return URL(fileURLWithPath: "\(folder)/\(applicationName)", isDirectory: true)
    }

    /// The profiles of the configuration file, ordered by name, and the one in use; `nil` is the default one.
    ///
    /// - Throws: ``ConfigurationError``.
    package static func profiles(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> (names: [ProfileName], current: ProfileName?) {
        let sources = try SettingSources(flags: [:], environment: environment)
        return (sources.profiles.sorted { $0.rawValue < $1.rawValue }, sources.profile)
    }
}

extension SettingSources {
    fileprivate func baseURL() throws(ConfigurationError) -> URL {
        let found = self[.baseURL] ?? Found(value: AppConfiguration.defaultBaseURL, source: "the default")
        guard let url = URL(string: found.value), let origin = Origin(url), url.user == nil, url.password == nil,
            url.query == nil, url.fragment == nil
        else {
            throw found.error(
                "must be an http or https URL such as https://api.example.com/api/v1, without user, query and fragment")
        }
        guard !origin.isCleartext || origin.isLoopback else {
            throw found.error("is http to another machine, which would disclose tokens; use https")
        }
        return url
    }

    fileprivate func store() throws(ConfigurationError) -> StoreChoice {
        guard let store = StoreChoice.named[self[.store]?.value ?? "file"] else {
            throw unknown(.store, expected: "one of \(StoreChoice.names.joined(separator: ", "))")
        }
        guard let path = self[.storePath], store == .file(folder: nil) else { return store }
        guard !path.value.isEmpty else { throw path.error("must name a folder") }
        return .file(folder: URL(fileURLWithPath: path.value, isDirectory: true))
    }

    fileprivate func refresh() throws(ConfigurationError) -> RefreshChoice {
        switch self[.refresh]?.value ?? "rest" {
        case "rest":
            return .rest
        case "oauth2":
            guard let id = self[.clientID]?.value, !id.isEmpty else {
                throw ConfigurationError(
                    "--refresh oauth2 needs a client: set --client-id or \(Setting.clientID.variable)", isUsage: true)
            }
            guard let secret = self[.clientSecret]?.value else { return .oauth2(.public(id: id)) }
            return .oauth2(.basic(id: id, secret: secret))
        default:
            throw unknown(.refresh, expected: "rest or oauth2")
        }
    }

    fileprivate func replay() throws(ConfigurationError) -> ReplayTolerance {
        let longest = 86_400
        switch self[.replay]?.value ?? "key" {
        case "none": return .none
        case "key": return .sameKey
        case let text:
            guard let seconds = Int(text), (1...longest).contains(seconds) else {
                throw unknown(.replay, expected: "none, key, or the server's grace window in seconds, up to \(longest)")
            }
            return .within(.seconds(seconds))
        }
    }

    fileprivate func expiredStatus() throws(ConfigurationError) -> Int {
        guard let found = self[.expiredStatus] else { return 401 }
        guard let status = Int(found.value), (400...499).contains(status) else {
            throw unknown(.expiredStatus, expected: "a status from 400 to 499, such as 401 or 419")
        }
        return status
    }

    fileprivate func tokenFields() throws(ConfigurationError) -> TokenFields? {
        guard let found = self[.tokenFields] else { return nil }
        let names = found.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard names.count <= 2, let fields = TokenFields(accessToken: names[0], refreshToken: names.dropFirst().first)
        else {
            throw found.error("must be the names of one or two header fields, such as accessToken,refreshToken")
        }
        return fields
    }

    private func unknown(_ setting: Setting, expected: String) -> ConfigurationError {
        self[setting]?.error("must be \(expected)") ?? ConfigurationError("\(setting.rawValue) must be \(expected)")
    }
}
