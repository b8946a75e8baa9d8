import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import Storage

/// A Keychain in memory that behaves as documented. Tests over it show that the store is correct if the Keychain does.
final class ModelKeychain: KeychainItems {
    /// What the device's user has done.
    enum Protection: Sendable, CaseIterable {
        /// Nothing since the device started. No item can be read.
        case beforeFirstUnlock

        /// As before, and items are not found, as in an application that iOS has prewarmed.
        case beforeFirstUnlockAndHidden

        /// Unlocked once, and locked now.
        case locked
        case unlocked
    }

    struct Item: Sendable, Hashable {
        let location: KeychainLocation
        var accessibility: KeychainAccessibility?
        var data: Data?
    }

    private struct State {
        var items: [Item] = []
        var protection = Protection.unlocked
        var damaged: Set<KeychainLocation> = []
    }

    let hasFileBasedKeychain: Bool

    /// The groups the program is entitled to, its own first.
    private let groups: [String]
    private let state = Locked(State())

    /// The notifications of the device.
    let signal = ModelChangeSignal()

    init(groups: [String] = ["own.group", "shared.group"], hasFileBasedKeychain: Bool = false) {
        self.groups = groups
        self.hasFileBasedKeychain = hasFileBasedKeychain
    }

    // MARK: For tests

    var items: [Item] { state.withLock { $0.items } }

    func set(_ protection: Protection) { state.withLock { $0.protection = protection } }

    /// Adds an item as another program.
    func insert(_ item: Item) { state.withLock { $0.items.append(item) } }

    func insert(_ data: Data, at location: KeychainLocation) {
        let group = location.keychain == .dataProtection ? location.accessGroup ?? groups.first : nil
        insert(Item(location: location.inGroup(group), accessibility: .afterFirstUnlockThisDeviceOnly, data: data))
    }

    /// Replaces the data of the items at a location, as a flipped bit or another program does.
    func overwrite(_ data: Data, at location: KeychainLocation) {
        state.withLock { state in
            for index in state.items.indices where location.covers(state.items[index].location) {
                state.items[index].data = data
            }
        }
    }

    /// Makes the items at a location impossible to decrypt.
    func damage(_ location: KeychainLocation) { state.withLock { _ = $0.damaged.insert(location) } }

    /// The items at a location, in any group.
    func data(at location: KeychainLocation) -> Data? { items.first { location.covers($0.location) }?.data }

    // MARK: The four calls

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        // The file-based Keychain does not return the data of several items.
        if query.returnsData && query.limit == .all && isFileBased(query.location) { throw .invalidParameter }
        let location = try checked(query.location)
        let state = state.withLock { $0 }
        let found = try matches(location, in: state).map { state.items[$0] }
        let wanted = query.limit == .all ? found : Array(found.prefix(1))
        for item in wanted where query.returnsData { try checkIsReadable(item, state) }
        return wanted.map {
            KeychainItem(accessGroup: $0.location.accessGroup, data: query.returnsData ? $0.data : nil)
        }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let location = try checked(query.location)
        let group = location.keychain == .dataProtection ? location.accessGroup ?? groups.first : nil
        let item = Item(location: location.inGroup(group), accessibility: values.accessibility, data: values.data)
        try state.withLock { state throws(KeychainStatus) in
            try checkIsUnlocked(item, state)
            let isThere = state.items.contains { $0.location == item.location }
            if isThere { throw .duplicateItem }
            state.items.append(item)
        }
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let location = try checked(query.location)
        try state.withLock { state throws(KeychainStatus) in
            let found = try matches(location, in: state)
            for index in found { try checkIsUnlocked(state.items[index], state) }
            for index in found {
                state.items[index].data = values.data
                state.items[index].accessibility = values.accessibility ?? state.items[index].accessibility
                state.damaged.remove(state.items[index].location)
            }
        }
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let location = try checked(query.location)
        try state.withLock { state throws(KeychainStatus) in
            let found = try matches(location, in: state)
            if location.keychain == .dataProtection && state.protection == .beforeFirstUnlock {
                throw .interactionNotAllowed
            }
            // The data-protection Keychain deletes every item that matches, the file-based one the first.
            let removed = location.keychain == .fileBased ? Array(found.prefix(1)) : found
            for index in removed.reversed() { state.items.remove(at: index) }
        }
    }

    // MARK: The rules

    private func isFileBased(_ location: KeychainLocation) -> Bool {
        hasFileBasedKeychain && location.keychain == .fileBased
    }

    /// The location on a device that may have one Keychain only, if the program is entitled to it.
    private func checked(_ location: KeychainLocation) throws(KeychainStatus) -> KeychainLocation {
        if isFileBased(location) { return location }
        guard !groups.isEmpty else { throw .missingEntitlement }
        if let group = location.accessGroup, !groups.contains(group) { throw .missingEntitlement }
        return location.inTheOnlyKeychain
    }

    private func matches(_ location: KeychainLocation, in state: State) throws(KeychainStatus) -> [Int] {
        let found = state.items.indices.filter { index in
            let item = state.items[index]
            guard location.covers(item.location) else { return false }
            if location.keychain == .fileBased { return true }
            return state.protection != .beforeFirstUnlockAndHidden && groups.contains(item.location.accessGroup ?? "")
        }
        if found.isEmpty { throw .itemNotFound }
        return found
    }

    private func checkIsUnlocked(_ item: Item, _ state: State) throws(KeychainStatus) {
        guard item.location.keychain == .dataProtection else { return }
        switch (state.protection, item.accessibility) {
        case (.unlocked, _), (.locked, .afterFirstUnlockThisDeviceOnly): return
        default: throw .interactionNotAllowed
        }
    }

    private func checkIsReadable(_ item: Item, _ state: State) throws(KeychainStatus) {
        try checkIsUnlocked(item, state)
        if state.damaged.contains(item.location) { throw .decodingFailed }
    }
}

/// Darwin notifications of one name, in memory.
struct ModelChangeSignal: ChangeSignal {
    private let broadcast = Broadcast<Void>()

    func post() { broadcast.send(()) }

    var reports: AsyncStream<Void> { broadcast.stream() }
}
