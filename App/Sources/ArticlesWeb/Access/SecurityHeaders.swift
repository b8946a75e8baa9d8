import HTTPTypes

/// The header fields of every response.
enum SecurityHeaders {
    /// Nothing is loaded from another origin, and nothing inline is run.
    private static let contentPolicy = [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let fields = [
        ("Content-Security-Policy", contentPolicy),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]

    /// Sets the fields.
    static func add(to headers: inout HTTPFields) {
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
    }
}
