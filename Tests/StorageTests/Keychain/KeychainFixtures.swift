import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import Storage

extension KeychainLocation {
    static let own = KeychainLocation(service: "org.example.articles", account: "anna")
    static let older = KeychainLocation(service: "articles", account: "anna")
    static let access = KeychainLocation(service: "articles", account: "accessToken")
    static let refresh = KeychainLocation(service: "articles", account: "refreshToken")
}

extension KeychainTokenStore {
    static func over(
        _ items: any KeychainItems, at location: KeychainLocation = .own,
        accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
        predecessors: [KeychainPredecessor] = [], marker: InstallMarker? = nil,
        isProtectedDataAvailable: @escaping @Sendable () async -> Bool = { true }
    ) -> KeychainTokenStore {
        let item = TokenItem(
            items: items, location: location, accessibility: accessibility, predecessors: predecessors, marker: marker)
        return KeychainTokenStore(item: item, isProtectedDataAvailable: isProtectedDataAvailable)
    }

    /// A store that processes of one device share, over the model.
    func sharedOnModel(lockFile: URL) -> SharedKeychainTokenStore {
        let signal: any ChangeSignal = (item.items as? ModelKeychain)?.signal ?? AbsentChangeSignal()
        return shared(lockFile: lockFile, clock: SystemTimeSource(), signal: signal)
    }
}

extension KeychainPredecessor {
    static let twoTokens = KeychainPredecessor.separateTokens(access: .access, refresh: .refresh)
}

extension ModelKeychain {
    /// The older Keychain of a Mac, and no other.
    static var ofAnOlderMac: ModelKeychain { ModelKeychain(groups: [], hasFileBasedKeychain: true) }

    /// Adds tokens in items of their own.
    func insertTokens(_ access: String? = "access-0", _ refresh: String? = "refresh-0") {
        if let access { insert(Data(access.utf8), at: .access) }
        if let refresh { insert(Data(refresh.utf8), at: .refresh) }
    }
}

extension TokenBundle {
    /// The bundle as a store encodes it.
    var stored: Data { get throws { try TokenEnvelope.encode(.active(self)) } }
}

extension Data {
    /// What a store of a later version would have written.
    static let ofLaterVersion = Data(#"{"format":"latchkey-tokens","version":99,"tokens":[]}"#.utf8)

    static let garbage = Data("not a bundle".utf8)
}

final class Flag: Sendable {
    private let value: Locked<Bool>

    init(_ value: Bool) { self.value = Locked(value) }

    var isSet: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

struct ScriptedFailure: Error {}
