import Foundation

/// Where settings come from, the first that says something wins: flags, environment, configuration file, default.
struct SettingSources {
    /// A value, and what to call the place it came from.
    struct Found {
        let value: String
        let place: String
        var isFlag = false

        /// The value cannot be used.
        func problem(_ text: String) -> ConfigurationError {
            ConfigurationError("\(place) \(text)", isUsage: isFlag)
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

    /// What a setting is set to. An empty environment variable sets nothing.
    subscript(setting: Setting) -> Found? {
        if let value = flags[setting] {
            return Found(value: value, place: setting.flag ?? setting.rawValue, isFlag: true)
        }
        if let value = environment[setting.variable], !value.isEmpty {
            return Found(value: value, place: setting.variable)
        }
        guard let file, let value = file.values[setting] else { return nil }
        return Found(value: value, place: "\"\(setting.rawValue)\" in \(file.path)")
    }
}

/// The configuration file: one JSON object, its keys the names of settings, its values texts or whole numbers.
struct ConfigurationFile {
    /// The environment variable that names the file.
    static let variable = "LATCHKEY_CONFIG"

    let path: String
    let values: [Setting: String]

    /// Reads the file that the environment names, or the one in the usual place, which may be missing.
    static func find(environment: [String: String]) throws(ConfigurationError) -> ConfigurationFile? {
        if let path = environment[variable], !path.isEmpty { return try ConfigurationFile(path: path) }
        let path = usualPath(environment: environment)
        return FileManager.default.fileExists(atPath: path) ? try ConfigurationFile(path: path) : nil
    }

    /// The configuration folder of the XDG Base Directory Specification (0.8); a relative one counts as none.
    static func usualPath(environment: [String: String]) -> String {
        let xdg = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = xdg ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
        return "\(folder)/\(AppConfiguration.applicationName)/config.json"
    }

    private init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("the configuration file \(path) cannot be read; check the path and its rights")
        }
        guard let object = try? JSONDecoder().decode([String: Value].self, from: data) else {
            throw ConfigurationError(
                "the configuration file \(path) is not a JSON object of texts and numbers; mend it or move it away")
        }
        var values: [Setting: String] = [:]
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting(rawValue: key) else {
                let known = Setting.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError("the key \"\(key)\" in \(path) is unknown; known are \(known)")
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
