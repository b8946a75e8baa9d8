import AuthInterface

extension TokenBundle {
    /// A bundle of about 10 KB that repeats its generation, so that a mix of two is noticed.
    static func large(_ generation: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(generation).", count: 1_500),
            refreshToken: String(repeating: "r\(generation).", count: 1_500),
            session: SessionID(rawValue: "large"),
            generation: generation
        )
    }
}
