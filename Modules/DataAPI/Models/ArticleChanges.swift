/// The changes to an article. A member that is `nil` stays as it is.
public struct ArticleChanges: Sendable, Hashable, Encodable {
    /// The new title.
    public var title: String?

    /// The new text.
    public var body: String?

    /// Creates changes.
    ///
    /// - Parameters:
    ///   - title: The new title.
    ///   - body: The new text.
    public init(title: String? = nil, body: String? = nil) {
        self.title = title
        self.body = body
    }
}
