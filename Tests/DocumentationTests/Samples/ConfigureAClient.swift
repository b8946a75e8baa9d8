import AuthInterface
import Foundation
import NetworkCore
import TokenRefresh

// The samples of the article *Configure a client*.

private func configuredClient(url: URL, transport: any HTTPTransport) -> NetworkClient {
    let coding = JSONCoding {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        return encoder
    } makeDecoder: {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }

    var configuration = NetworkConfiguration(baseURL: url)
    configuration.coding = coding
    configuration.headers = ["Accept-Language": "en", "X-App-Version": "1.0"]
    configuration.timeout = .seconds(15)
    configuration.deadline = .seconds(45)

    var retries = RetryPolicy(attempts: 4, baseDelay: .milliseconds(250))
    retries.maximumRetryAfter = .seconds(30)

    let api = NetworkClient(configuration: configuration, transport: transport, interceptors: [retries])
    return api
}

private func configuredSession(store: any TokenStore, handler: any TokenRefreshHandler) -> TokenRefreshCoordinator {
    var policy = TokenRefreshPolicy()
    policy.ahead = .seconds(120)  // refresh in the background from then on
    policy.deadline = .seconds(20)
    let session = TokenRefreshCoordinator(store: store, handler: handler, policy: policy)
    return session
}
