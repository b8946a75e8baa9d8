import AuthInterface

/// Places tokens, and gets a better one when the server refuses one. One call, one interceptor.
struct AuthenticationInterceptor: RequestInterceptor {
    let provider: any TokenProvider
    let policy: AuthenticationPolicy
    let origins: OriginPolicy
}
