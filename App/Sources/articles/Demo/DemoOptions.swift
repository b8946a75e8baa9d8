import DevBackend

/// What a run of the demo can be told.
struct DemoOptions: Hashable, Sendable {
    /// How many requests may be sent at once. Each needs two of the process's files where connections are not shared.
    static let requestBounds = 1...5_000

    /// The refresh calls to choose between.
    enum Refresh: String, CaseIterable, Sendable {
        case rest, oauth2
    }

    var requests = 200
    var refresh = Refresh.rest
    var expiredStatus = DevBackend.ExpiredTokenStatus.unauthorized
}
