import AuthInterface
import Foundation

@testable import Storage

/// The Keychain as its documentation has it, in memory. `ModelKeychainTests` say what it does, row by row.
///
/// It is a model: what it shows is that the store is right if the Keychain is as documented.
final class ModelKeychain: KeychainItems {
    /// What the device's user has done.
    enum Protection: Sendable, CaseIterable {
        /// Nothing since the device started. No item can be read.
        case beforeFirstUnlock

        /// As before, and items are not even found: iOS, when it starts an application ahead of time.
        case beforeFirstUnlockAndHidden

        /// Unlocked once, and locked now.
        case locked
        case unlocked
    }

    struct Item: Sendable, Hashable {
        let place: KeychainPlace
        var isSynchronizable = false
        var accessibility: KeychainAccessibility?
        var data: Data?
    }

    private struct State {
        var items: [Item] = []
        var protection = Protection.unlocked
        var damaged: Set<KeychainPlace> = []
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

    // MARK: What a test does

    var items: [Item] { state.withLock { $0.items } }

    func set(_ protection: Protection) { state.withLock { $0.protection = protection } }

    /// Puts an item where somebody else has put it.
    func insert(_ item: Item) { state.withLock { $0.items.append(item) } }

    func insert(_ data: Data, at place: KeychainPlace) {
        let group = place.keychain == .dataProtection ? place.accessGroup ?? groups.first : nil
        insert(Item(place: place.inGroup(group), accessibility: .afterFirstUnlockThisDeviceOnly, data: data))
    }

    /// Replaces what is in the items at a place, as a flipped bit or another program does.
    func overwrite(_ data: Data, at place: KeychainPlace) {
        state.withLock { state in
            for index in state.items.indices where place.covers(state.items[index].place) {
                state.items[index].data = data
            }
        }
    }

    /// Makes the items at a place impossible to decrypt.
    func damage(_ place: KeychainPlace) { state.withLock { _ = $0.damaged.insert(place) } }

    /// What is at a place, in whichever group.
    func data(at place: KeychainPlace) -> Data? { items.first { place.covers($0.place) }?.data }

    // MARK: The four calls

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        // The file-based Keychain does not return the data of several items.
        if query.returnsData && query.limit == .all && isFileBased(query.place) { throw .invalidParameter }
        let place = try checked(query.place)
        let state = state.withLock { $0 }
        let found = try matches(place, in: state).map { state.items[$0] }
        let wanted = query.limit == .all ? found : Array(found.prefix(1))
        for item in wanted where query.returnsData { try checkIsReadable(item, state) }
        return wanted.map {
            KeychainItem(accessGroup: $0.place.accessGroup, data: query.returnsData ? $0.data : nil)
        }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let place = try checked(query.place)
        let group = place.keychain == .dataProtection ? place.accessGroup ?? groups.first : nil
        let item = Item(place: place.inGroup(group), accessibility: values.accessibility, data: values.data)
        try state.withLock { state throws(KeychainStatus) in
            try checkIsUnlocked(item, state)
            let isThere = state.items.contains { $0.place == item.place && !$0.isSynchronizable }
            if isThere { throw .duplicateItem }
            state.items.append(item)
        }
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let place = try checked(query.place)
        try state.withLock { state throws(KeychainStatus) in
            let found = try matches(place, in: state)
            for index in found { try checkIsUnlocked(state.items[index], state) }
            for index in found {
                state.items[index].data = values.data
                state.items[index].accessibility = values.accessibility ?? state.items[index].accessibility
                state.damaged.remove(state.items[index].place)
            }
        }
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        guard query.limit == nil && !query.returnsData else { throw .invalidParameter }
        let place = try checked(query.place)
        try state.withLock { state throws(KeychainStatus) in
            let found = try matches(place, in: state)
            if place.keychain == .dataProtection && state.protection == .beforeFirstUnlock {
                throw .interactionNotAllowed
            }
            // The data-protection Keychain deletes every item that matches, the file-based one the first.
            let removed = place.keychain == .fileBased ? Array(found.prefix(1)) : found
            for index in removed.reversed() { state.items.remove(at: index) }
        }
    }

    // MARK: The rules

    private func isFileBased(_ place: KeychainPlace) -> Bool { hasFileBasedKeychain && place.keychain == .fileBased }

    /// The place in the words of a device that may have one Keychain only, if the program is entitled to it.
    private func checked(_ place: KeychainPlace) throws(KeychainStatus) -> KeychainPlace {
        if isFileBased(place) { return place }
        guard !groups.isEmpty else { throw .missingEntitlement }
        if let group = place.accessGroup, !groups.contains(group) { throw .missingEntitlement }
        return place.inTheOnlyKeychain
    }

    private func matches(_ place: KeychainPlace, in state: State) throws(KeychainStatus) -> [Int] {
        let found = state.items.indices.filter { index in
            let item = state.items[index]
            guard place.covers(item.place), !item.isSynchronizable else { return false }
            if place.keychain == .fileBased { return true }
            return state.protection != .beforeFirstUnlockAndHidden && groups.contains(item.place.accessGroup ?? "")
        }
        if found.isEmpty { throw .itemNotFound }
        return found
    }

    private func checkIsUnlocked(_ item: Item, _ state: State) throws(KeychainStatus) {
        guard item.place.keychain == .dataProtection else { return }
        switch (state.protection, item.accessibility) {
        case (.unlocked, _), (.locked, .afterFirstUnlockThisDeviceOnly): return
        default: throw .interactionNotAllowed
        }
    }

    private func checkIsReadable(_ item: Item, _ state: State) throws(KeychainStatus) {
        try checkIsUnlocked(item, state)
        if state.damaged.contains(item.place) { throw .decodingFailed }
    }
}

/// Darwin notifications of one name, in memory.
struct ModelChangeSignal: ChangeSignal {
    private let broadcast = Broadcast<Void>()

    func post() { broadcast.send(()) }

    var reports: AsyncStream<Void> { broadcast.stream() }
}
