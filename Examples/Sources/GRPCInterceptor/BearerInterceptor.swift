public import AuthInterface
public import GRPCCore

/// For clients of grpc-swift-2 that take the engine alone. Copy all of it, and give both parts to the client:
///
/// ```swift
/// let engine = TokenRefreshCoordinator(store: store, handler: PartnerRefresh())
/// let transport = try HTTP2ClientTransport.Posix(
///     target: .dns(host: "api.example.com"), transportSecurity: .tls, serviceConfig: BearerInterceptor.secondAttempt)
/// try await withGRPCClient(transport: transport, interceptors: [BearerInterceptor(engine)]) { client in … }
/// ```
///
/// Each attempt carries the engine's token as `authorization` metadata. One that the server refuses with
/// `UNAUTHENTICATED` asks the engine for another token; the engine makes one refresh for all of them. An interceptor
/// has one attempt: the second one is made by the retry policy of gRPC, also for a stream whose first messages it still
/// has.
///
/// Every server of the client gets the token: use a transport with TLS, to one server.
@available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
public struct BearerInterceptor: ClientInterceptor {
    private let provider: any TokenProvider

    /// - Parameter provider: The engine.
    public init(_ provider: any TokenProvider) { self.provider = provider }

    /// Has gRPC make a call once more that was refused. If your methods have a retry policy, add the code to it.
    public static var secondAttempt: ServiceConfig {
        let policy = RetryPolicy(
            maxAttempts: 2, initialBackoff: .milliseconds(1), maxBackoff: .milliseconds(1), backoffMultiplier: 1,
            retryableStatusCodes: [.unauthenticated])
        let everyMethod = MethodConfig.Name(service: "")
        return ServiceConfig(methodConfig: [MethodConfig(names: [everyMethod], executionPolicy: .retry(policy))])
    }

    /// Makes an attempt with a token, and has the token replaced if the server refuses it.
    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>,
        context: ClientContext,
        next: @concurrent (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        do {
            let token = try await provider.token()
            var request = request
            request.metadata.replaceOrAddString("Bearer \(token.value)", forKey: "authorization")
            let response = try await next(request, context)
            if case .failure(let error) = response.accepted, error.code == .unauthenticated {
                let refusal = TokenRefusal(of: token, endpoint: context.descriptor.fullyQualifiedMethod)
                _ = try await provider.replacement(after: refusal)
            }
            return response
        } catch let error as AuthenticationError {
            // In the second case the session is kept: the call may be made again later.
            let isOver = [.notSignedIn, .sessionEnded, .unauthorized, .noRefreshToken].contains(error.code)
            throw RPCError(code: isOver ? .unauthenticated : .unavailable, message: "\(error)", cause: error)
        }
    }
}
