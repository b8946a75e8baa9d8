import Foundation
import NetworkCore

/// The sources of settings. A flag wins over the environment, the environment over the configuration file.
struct SettingSources {
    struct Found {
        let value: String
        let source: String
        var isFlag = false

        func error(_ text: String) -> ConfigurationError {
            ConfigurationError("\(source) \(text)", isUsage: isFlag)
        }
    }

    private let flags: [Setting: String]
    private let environment: [String: String]
    private let file: ConfigurationFile?
    /// The profile in use; `nil` is the default one.
    private(set) var profile: ProfileName?

    init(flags: [Setting: String], environment: [String: String]) throws(ConfigurationError) {
        self.flags = flags
        let former = Setting.formerVariables(in: environment)
            .map { (Setting.currentName(of: $0), environment[$0] ?? "") }
        self.environment = environment.merging(former) { own, former in own.isEmpty ? former : own }
        file = try ConfigurationFile.find(environment: self.environment)
        profile = try self[.profile].flatMap { found throws(ConfigurationError) in try selected(found) }
    }

    var profiles: [ProfileName] { file.map { Array($0.profiles.keys) } ?? [] }

    /// Whether the file's secret of a client is for the server that is used: the file names no other one beside it. A
    /// flag or the environment may name another, which must not receive it.
    private func isOfServer(_ section: [Setting: String]?) -> Bool {
        guard let file, let beside = section?[.baseURL] ?? file.values[.baseURL], let used = self[.baseURL]?.value
        else { return true }
        return beside == used || URL(string: beside).flatMap(Origin.init) == URL(string: used).flatMap(Origin.init)
    }

    private func selected(_ found: Found) throws(ConfigurationError) -> ProfileName? {
        guard found.value != ProfileName.defaultName else { return nil }
        guard let name = ProfileName(found.value) else { throw found.error("must be \(ProfileName.rule)") }
        guard profiles.contains(name) else {
            let known = profiles.map(\.rawValue).sorted().joined(separator: ", ")
            let path = ConfigurationFile.location(environment: environment)
            throw found.error(
                "names the profile \(name), which does not exist; add it to \"profiles\" in \(path)"
                    + (known.isEmpty ? "" : ", or use one of: \(known)"))
        }
        return name
    }

    /// The value of a setting. An empty environment variable counts as absent.
    subscript(setting: Setting) -> Found? {
        if let value = flags[setting] {
            return Found(value: value, source: setting.flag ?? setting.rawValue, isFlag: true)
        }
        if let value = environment[setting.variable], !value.isEmpty {
            return Found(value: value, source: setting.variable)
        }
        guard let file else { return nil }
        let section = profile.flatMap { file.profiles[$0] }
        if setting == .clientSecret, !isOfServer(section) { return nil }
        if let profile, let value = section?[setting] {
            return Found(value: value, source: "\"\(setting.rawValue)\" of profile \(profile) in \(file.path)")
        }
        // A client's secret, or how one server refreshes, must not reach the server of a profile.
        if section?[.baseURL] != nil, setting.belongsToServer { return nil }
        guard let value = file.values[setting] else { return nil }
        return Found(value: value, source: "\"\(setting.rawValue)\" in \(file.path)")
    }
}

/// A setting. It has one name everywhere: `base-url` is `--base-url`, `ARTICLES_BASE_URL` and `"base-url"`. The help of
/// the flags says what each one means.
package enum Setting: String, Sendable, CaseIterable {
    case baseURL = "base-url"
    case store
    case storePath = "store-path"
    case refresh, replay
    case expiredStatus = "expired-status"
    case tokenFields = "token-fields"
    case clientID = "client-id"
    /// It has no flag: other users of the machine can read a process's arguments.
    case clientSecret = "client-secret"
    case profile

    package var flag: String? { self == .clientSecret ? nil : "--\(rawValue)" }
    package var variable: String { "ARTICLES_" + rawValue.uppercased().replacing("-", with: "_") }

    /// The variables that are set by their names of an earlier version, which are read for one release.
    package static func formerVariables(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        (allCases.map(\.variable) + [ConfigurationFile.variable])
            .map { $0.replacing("ARTICLES_", with: "LATCHKEY_") }.filter { environment[$0]?.isEmpty == false }
    }

    /// The name of a variable that has one of an earlier version.
    package static func currentName(of variable: String) -> String {
        variable.replacing("LATCHKEY_", with: "ARTICLES_")
    }

    var belongsToServer: Bool {
        switch self {
        case .baseURL, .refresh, .replay, .expiredStatus, .tokenFields, .clientID, .clientSecret: true
        case .store, .storePath, .profile: false
        }
    }
}

/// The name of a profile: 1 to 32 letters, digits, `-` and `_`, the first a letter or digit.
package struct ProfileName: Sendable, Hashable, CustomStringConvertible {
    /// The name of the profile that is used when none is chosen. No section has it.
    package static let defaultName = "default"

    static let rule = "a name of 1 to 32 letters, digits, - and _, the first a letter or digit"

    package let rawValue: String

    /// Fails for a name that is invalid, and for `default`.
    package init?(_ text: String) {
        guard text != Self.defaultName, text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]{0,31}/) != nil else { return nil }
        rawValue = text
    }

    package var description: String { rawValue }
}
