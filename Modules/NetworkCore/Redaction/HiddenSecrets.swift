import AuthInterface

/// Secrets beside a value that sends them. They are not shown, and take no part in the comparison of such values.
struct HiddenSecrets: Sendable, Hashable {
    var values: [String] = []

    static func == (_: Self, _: Self) -> Bool { true }

    func hash(into _: inout Hasher) {}
}

extension HiddenSecrets: RedactedDescription {
    var description: String { Redaction.placeholder }
}
