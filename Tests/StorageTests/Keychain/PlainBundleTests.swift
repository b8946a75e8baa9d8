import AuthInterface
import Foundation
import Testing

@testable import Storage

/// An application that kept its tokens as one JSON item of its own.
@Suite struct PlainBundleTests {
    /// What such an application declares and stores.
    private struct PlainBundle: Codable {
        var accessToken = "access-0"
        var refreshToken: String? = "refresh-0"
        var expiresAt: Date? = Date(timeIntervalSinceReferenceDate: 813_456_000)
    }

    private let model = ModelKeychain()

    private func store(at location: KeychainLocation = .own) -> KeychainTokenStore {
        .over(model, predecessors: [.plainBundle(at: location)])
    }

    @Test(arguments: [KeychainLocation.own, .older])
    func `an update from an application with a plain bundle stays signed in`(_ location: KeychainLocation) async throws
    {
        model.insert(try JSONEncoder().encode(PlainBundle()), at: location)
        let store = store(at: location)
        let bundle = try #require(try await store.load())
        #expect(bundle.accessToken == "access-0" && bundle.refreshToken == "refresh-0" && bundle.generation == 0)
        #expect(bundle.expiresAt == Date(timeIntervalSinceReferenceDate: 813_456_000))
        // It is one session from now on, and later starts, saves and the sign-out are as ever.
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        #expect(try model.data(at: .own) == bundle.stored)
        #expect(try await self.store(at: location).load() == bundle)
        try await store.expectRoundTrip(of: .numbered(1, of: bundle.session))
        try await store.delete()
        #expect(try await store.load() == nil)
        // Without an expiry or a refresh token it is a session, too.
        model.insert(try JSONEncoder().encode(PlainBundle(refreshToken: nil, expiresAt: nil)), at: location)
        let partial = try await self.store(at: location).load()
        #expect(partial?.accessToken == "access-0" && partial?.refreshToken == nil && partial?.expiresAt == nil)
    }

    @Test func `DI12: without its predecessor such an item is corrupt; the error names what reads it`() async throws {
        for (data, isHinted) in [(try JSONEncoder().encode(PlainBundle()), true), (Data("{}".utf8), false)] {
            let model = ModelKeychain()
            model.insert(data, at: .own)
            let store = KeychainTokenStore.over(model)
            let error = await #expect(throws: TokenStoreError.self) { _ = try await store.load() }
            #expect(error?.code == .corrupt && error?.reason.contains("plainBundle(at:)") == isHinted)
            #expect(error?.reason.contains("access-0") == false && model.data(at: .own) == data)
        }
    }

    @Test(arguments: [#"{"refreshToken":"refresh-0"}"#, "[]", "not a bundle", ""], [KeychainLocation.own, .older])
    func `anything else is corrupt and stays until a sign-in`(_ text: String, location: KeychainLocation) async throws {
        model.insert(Data(text.utf8), at: location)
        let store = store(at: location)
        let error = await #expect(throws: TokenStoreError.self) { _ = try await store.load() }
        #expect(error?.code == .corrupt && error?.cause == nil, "the error of a reader might quote the data")
        #expect(model.data(at: location) == Data(text.utf8))
        try await store.expectRoundTrip(of: .numbered(0))
        #expect(model.items.count == 1)
    }
}
