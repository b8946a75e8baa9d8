import Foundation
import NetworkCore

struct Library {
    let api: NetworkClient

    init(url: URL, transport: any HTTPTransport) {
        api = NetworkClient(baseURL: url, transport: transport, interceptors: [RetryPolicy.standard])
    }
}
