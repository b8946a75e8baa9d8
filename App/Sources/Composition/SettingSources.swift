import Foundation

/// The sources of settings. A flag wins over the environment, the environment over the configuration file.
struct SettingSources {
    /// A value, and the name of its source.
    struct Found {
        let value: String
        let source: String
        var isFlag = false

        /// The error for an invalid value.
        func error(_ text: String) -> ConfigurationError {
            ConfigurationError("\(source) \(text)", isUsage: isFlag)
        }
    }

    private let flags: [Setting: String]
    private let environment: [String: String]
    private let file: ConfigurationFile?

    init(flags: [Setting: String], environment: [String: String]) throws(ConfigurationError) {
        self.flags = flags
        self.environment = environment
        file = try ConfigurationFile.find(environment: environment)
    }

    /// The value of a setting. An empty environment variable counts as absent.
    subscript(setting: Setting) -> Found? {
        if let value = flags[setting] {
            return Found(value: value, source: setting.flag ?? setting.rawValue, isFlag: true)
        }
        if let value = environment[setting.variable], !value.isEmpty {
            return Found(value: value, source: setting.variable)
        }
        guard let file, let value = file.values[setting] else { return nil }
        return Found(value: value, source: "\"\(setting.rawValue)\" in \(file.path)")
    }
}

/// A setting. It has one name everywhere: `base-url` is `--base-url`, `LATCHKEY_BASE_URL` and `"base-url"`.
public enum Setting: String, Sendable, CaseIterable {
    /// The base URL of the API, with scheme `https`, or `http` on this machine.
    case baseURL = "base-url"

    /// Where the session is stored: `file` or `memory`.
    case store

    /// The folder of the file store.
    case storePath = "store-path"

    /// How tokens are refreshed: `rest` or `oauth2`.
    case refresh

    /// Which replays of a refresh the server tolerates after a lost response: `none`, `key`, or a number of seconds.
    case replay

    /// The status of the response to an expired access token.
    case expiredStatus = "expired-status"

    /// The OAuth 2.0 client identifier.
    case clientID = "client-id"

    /// The OAuth 2.0 client secret. It has no flag: other users of the machine can read a process's arguments.
    case clientSecret = "client-secret"

    /// The flag; `nil` for a setting without one.
    public var flag: String? { self == .clientSecret ? nil : "--\(rawValue)" }

    /// The environment variable.
    public var variable: String { "LATCHKEY_" + rawValue.uppercased().replacing("-", with: "_") }
}

/// The configuration file: one JSON object from names of settings to strings or integers.
struct ConfigurationFile {
    /// The environment variable that names the file.
    static let variable = "LATCHKEY_CONFIG"

    let path: String
    let values: [Setting: String]

    /// Reads the file that the environment names, or the default one, which may be missing.
    static func find(environment: [String: String]) throws(ConfigurationError) -> ConfigurationFile? {
        if let path = environment[variable], !path.isEmpty { return try ConfigurationFile(path: path) }
        let path = defaultPath(environment: environment)
        return FileManager.default.fileExists(atPath: path) ? try ConfigurationFile(path: path) : nil
    }

    /// The path in the configuration folder of the XDG Base Directory Specification (0.8), which ignores a relative
    /// one.
    private static func defaultPath(environment: [String: String]) -> String {
        let xdg = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = xdg ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
        return "\(folder)/\(AppConfiguration.applicationName)/config.json"
    }

    private init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(
                "the configuration file \(path) cannot be read; check its path and permissions")
        }
        guard let object = try? JSONDecoder().decode([String: Value].self, from: data) else {
            throw ConfigurationError(
                "the configuration file \(path) is not a JSON object of strings and integers; correct or remove it")
        }
        var values: [Setting: String] = [:]
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting(rawValue: key) else {
                let known = Setting.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError("the key \"\(key)\" in \(path) is unknown; the keys are \(known)")
            }
            values[setting] = value.text
        }
        self.path = path
        self.values = values
    }

    private struct Value: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                text = String(number)
            } else {
                text = try value.decode(String.self)
            }
        }
    }
}
