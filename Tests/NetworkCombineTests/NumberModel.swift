#if canImport(Combine) || OpenCombine
import Foundation
import NetworkCombine
import NetworkCore

@MainActor
final class NumberModel {
    private(set) var number: Int?
    private(set) var message: String?
    private var subscriptions: Set<AnyCancellable> = []

    func load(from network: any NetworkService) {
        network.publisher(for: Endpoint<Int>.get("number"))
            .sink { completion in
                if case .failure(let error) = completion { self.message = error.localizedDescription }
            } receiveValue: { number in
                self.number = number
            }
            .store(in: &subscriptions)
    }
}
#endif
