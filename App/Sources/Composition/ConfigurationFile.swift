import Foundation

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
