public import NetworkCore

extension HTTPTransportRequest {
    /// The most bytes of a body in ``curlText``: 16 KiB.
    static let maximumCurlBodySize = 16 * 1_024

    /// The request as a command of cURL, for a log or a bug report, without secrets (G17).
    ///
    /// What was redacted must be filled in before it can be run. A body that is a file, a sequence, no text or longer
    /// than 16 KiB is left out, and named in a comment. So is a text that is neither JSON nor a form:
    /// it may hold a credential.
    ///
    /// A transport that wraps a transport sees each request as it is sent, with its token's place:
    ///
    /// ```swift
    /// func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
    ///     log(request.curlText)
    ///     return try await next.perform(request)
    /// }
    /// ```
    public var curlText: String {
        let redaction = Redaction(of: self)
        // With another method's name in place of `--head`, cURL would wait for the body that a HEAD response announces.
        let method = head.method == .head ? "--head" : "--request \(head.method.rawValue.shellQuoted)"
        var lines = ["curl \(method)"]
        for field in head.headers {
            let value = redaction.fieldValue(field.value, named: field.name)
            lines.append("--header \("\(field.name): \(value)".shellQuoted)")
        }
        var comment = ""
        if !body.isEmpty {
            let type = head.headers["Content-Type"]
            if let data = body.data, data.count <= Self.maximumCurlBodySize,
                let text = redaction.body(data, contentType: type)
            {
                lines.append("--data-raw \(text.shellQuoted)")
            } else {
                comment = "  # the body is left out: \(body)"
            }
        }
        lines.append("--url \(redaction.url(head.url, of: context.message).shellQuoted)")
        return lines.joined(separator: " \\\n  ") + comment
    }
}

extension String {
    /// The text as one word of a POSIX shell. Control characters other than tab and line feed are left out.
    fileprivate var shellQuoted: String {
        let visible = unicodeScalars.filter { $0 == "\n" || $0 == "\t" || $0.properties.generalCategory != .control }
        return "'" + String(String.UnicodeScalarView(visible)).replacing("'", with: #"'\''"#) + "'"
    }
}
