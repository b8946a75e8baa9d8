// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AuthInterface
public import Foundation
public import NetworkCore

// The samples of the article *Modules for several teams*.

extension Endpoint where Response == Order {
    static func order(_ id: Order.ID) -> Self { .get("orders/\(id)") }
}

nonisolated public struct Order: Codable, Sendable, Identifiable {
    public let id: Int
    public let total: Decimal
}

public struct OrderService: Sendable {
    private let network: any NetworkService

    public init(network: any NetworkService) { self.network = network }

    public func order(_ id: Order.ID) async throws -> Order { try await network.send(.order(id)) }
}

private func connect(_ api: NetworkClient, _ session: any TokenProvider) -> OrderService {
    let network: any NetworkService = api.authenticated(by: session)
    let orders = OrderService(network: network)
    return orders
}
