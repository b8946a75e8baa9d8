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
