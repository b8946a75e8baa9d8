/// A network service that never authenticates a request.
///
/// A refresh handler takes such a service: an authenticated call would wait for the refresh that it is part of (G20).
/// ``NetworkClient/authenticated(by:policy:)`` returns a type that does not conform, so that this mistake does not
/// compile. A type of your own may conform only if it never asks a `TokenProvider` for a token.
public protocol UnauthenticatedNetworkService: NetworkService {}
