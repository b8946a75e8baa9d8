import Foundation

/// The configuration file: one JSON object from names of settings to strings or integers. Its key `profiles` has an
/// object of the same kind for each profile.
///
/// ```json
/// {"base-url": "https://api.example.com/v1",
///  "profiles": {"staging": {"base-url": "https://staging.example.com/v1"}}}
/// ```
struct ConfigurationFile {
    /// The environment variable that names the file.
    static let variable = "ARTICLES_CONFIG"

    let path: String
    let values: [Setting: String]
    let profiles: [ProfileName: [Setting: String]]

    private static let sectionsKey = "profiles"

    /// Reads the file that the environment names, or the default one, which may be missing.
    static func find(environment: [String: String]) throws(ConfigurationError) -> ConfigurationFile? {
        let path = location(environment: environment)
        let mustExist = environment[variable]?.isEmpty == false
        return mustExist || FileManager.default.fileExists(atPath: path) ? try ConfigurationFile(path: path) : nil
    }

    /// The path of the file, whether it exists or not: the one that the environment names, or that in the configuration
    /// folder.
    static func location(environment: [String: String]) -> String {
        if let path = environment[variable], !path.isEmpty { return path }
        let folder = AppConfiguration.folder("XDG_CONFIG_HOME", orInHome: ".config", environment)
        return folder.appendingPathComponent("config.json").path
    }

    private init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(
                "the configuration file \(path) cannot be read; check its path and permissions")
        }
        guard var object = try? JSONDecoder().decode([String: Value].self, from: data) else {
            throw ConfigurationError(
                "the configuration file \(path) is not a JSON object of strings and integers; correct or remove it")
        }
        let sections = object.removeValue(forKey: Self.sectionsKey)
        self.path = path
        values = try Self.settings(object, in: path)
        profiles = try sections.map { value throws(ConfigurationError) in try Self.profiles(value, in: path) } ?? [:]
    }

    private static func profiles(
        _ value: Value, in path: String
    ) throws(ConfigurationError) -> [ProfileName: [Setting: String]] {
        guard case .object(let sections) = value else {
            throw ConfigurationError("\"\(sectionsKey)\" in \(path) must be an object of objects")
        }
        var profiles: [ProfileName: [Setting: String]] = [:]
        for (key, section) in sections.sorted(by: { $0.key < $1.key }) {
            guard let name = ProfileName(key) else {
                throw ConfigurationError("the profile \"\(key)\" in \(path) must have \(ProfileName.rule)")
            }
            guard case .object(let object) = section, object[Setting.profile.rawValue] == nil else {
                throw ConfigurationError("the profile \(name) in \(path) must be an object of settings")
            }
            profiles[name] = try settings(object, in: path)
        }
        return profiles
    }

    private static func settings(
        _ object: [String: Value], in path: String
    ) throws(ConfigurationError) -> [Setting: String] {
        var values: [Setting: String] = [:]
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting(rawValue: key) else {
                let known = (Setting.allCases.map(\.rawValue) + [sectionsKey]).joined(separator: ", ")
                throw ConfigurationError("the key \"\(key)\" in \(path) is unknown; the keys are \(known)")
            }
            guard case .text(let text) = value else {
                throw ConfigurationError("\"\(key)\" in \(path) must be a string or an integer")
            }
            values[setting] = text
        }
        return values
    }

    private enum Value: Decodable {
        case text(String)
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                self = .text(String(number))
            } else if let object = try? value.decode([String: Value].self) {
                self = .object(object)
            } else {
                self = .text(try value.decode(String.self))
            }
        }
    }
}
