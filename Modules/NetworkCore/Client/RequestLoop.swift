import AuthInterface

/// The one loop that drives every call of both clients.
struct RequestLoop: Sendable {
    let configuration: NetworkConfiguration
    let transport: any HTTPTransport
    let interceptors: [any RequestInterceptor]
    let observers: [any NetworkObserver]
    let clock: any TimeSource

    func send<Response>(
        _ endpoint: Endpoint<Response>,
        authentication: AuthenticationInterceptor?,
        progress: ProgressHandler?
    ) async throws -> Response {
        throw NetworkError(.transportFailed, reason: "not built yet")
    }
}
