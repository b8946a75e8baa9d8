extension String {
    /// The longest identifier of a server that is kept, in characters.
    private static let longestIdentifier = 128

    /// The text without the secrets of the call, for a server that quotes the request in its error (G17).
    ///
    /// Each secret is looked for as it is, percent-encoded, and encoded as in a form.
    ///
    /// - Parameter secrets: The secrets. `nil` and empty ones are skipped.
    /// - Returns: The text with a placeholder in place of each.
    package func withoutQuoting(_ secrets: [String?]) -> String {
        var text = self
        for case let secret? in secrets where !secret.isEmpty {
            let encoded = secret.percentEncodedComponent
            let forms = [secret, encoded, encoded.replacing("%20", with: "+"), encoded.lowercasedEscapes]
            for form in Set(forms).sorted(by: { $0.count > $1.count }) where text.contains(form) {
                text = text.replacing(form, with: Redaction.placeholder)
            }
        }
        return text
    }

    /// A server's code, or its name for a request, made fit for a log: no secret of the call, no control characters, a
    /// bounded length.
    ///
    /// - Parameter secrets: The secrets of the call.
    /// - Returns: The identifier.
    package func asIdentifier(withoutQuoting secrets: [String?]) -> String {
        let bounded = withoutQuoting(secrets).prefix(Self.longestIdentifier)
        return String(bounded.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }

    private var lowercasedEscapes: String {
        replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() }
    }
}
