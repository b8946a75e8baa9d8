import ConcurrencyPrimitives
import Foundation

@testable import Storage

enum KeychainCall: Sendable, CaseIterable { case copyMatching, add, update, delete }

/// A Keychain in memory that behaves as documented. Tests over it show that the store is correct if the Keychain does.
///
/// It records its calls. Their results can be scripted, and the program may die after one of them.
final class ModelKeychain: KeychainItems {
    /// What the device's user has done.
    enum Protection: Sendable {
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

    struct Asked: Sendable {
        let call: KeychainCall
        let location: KeychainLocation
        let accessibility: KeychainAccessibility?
    }

    private struct Device {
        var items: [Item] = []
        var protection = Protection.unlocked
        var damaged: Set<KeychainLocation> = []
    }

    private struct Program {
        var asked: [Asked] = []
        var results: [KeychainCall: [KeychainStatus?]] = [:]
        var standing: [KeychainCall: KeychainStatus] = [:]
        var before: [KeychainCall: @Sendable () -> Void] = [:]
        var isDead = false
    }

    let hasFileBasedKeychain: Bool

    /// The notifications of the device.
    let signal: ModelChangeSignal

    /// The groups the program is entitled to, its own first.
    private let groups: [String]
    private let device: Locked<Device>
    private let program = Locked(Program())

    /// The number of calls after which the program dies, and whether the last one returns its result, or an error.
    private let life: (calls: Int, returnsLastResult: Bool)

    init(groups: [String] = ["own.group", "shared.group"], hasFileBasedKeychain: Bool = false) {
        self.groups = groups
        self.hasFileBasedKeychain = hasFileBasedKeychain
        signal = ModelChangeSignal()
        device = Locked(Device())
        life = (.max, true)
    }

    /// Another program on the same device, which dies after some calls: further ones have no effect.
    private init(on other: ModelKeychain, dyingAfter calls: Int, returnsLastResult: Bool) {
        groups = other.groups
        hasFileBasedKeychain = other.hasFileBasedKeychain
        signal = other.signal
        device = other.device
        life = (calls, returnsLastResult)
    }

    // MARK: For tests

    var items: [Item] { device.withLock { $0.items } }
    var asked: [Asked] { program.withLock { $0.asked } }
    var calls: [KeychainCall] { asked.map(\.call) }

    func set(_ protection: Protection) { device.withLock { $0.protection = protection } }

    /// Adds an item as another program.
    func insert(_ item: Item) { device.withLock { $0.items.append(item) } }

    func insert(_ data: Data, at location: KeychainLocation) {
        insert(Item(location: inGroup(location), accessibility: .afterFirstUnlockThisDeviceOnly, data: data))
    }

    /// Replaces the data of the items at a location, as a flipped bit or another program does.
    func overwrite(_ data: Data, at location: KeychainLocation) {
        device.withLock { device in
            for index in device.items.indices where location.covers(device.items[index].location) {
                device.items[index].data = data
            }
        }
    }

    /// Makes the items at a location impossible to decrypt.
    func damage(_ location: KeychainLocation) { device.withLock { _ = $0.damaged.insert(location) } }

    /// The items at a location, in any group.
    func data(at location: KeychainLocation) -> Data? { items.first { location.covers($0.location) }?.data }

    /// Scripts the next results of a call. `nil`, and all later results, are those of the model.
    func script(_ call: KeychainCall, _ results: KeychainStatus?...) { program.withLock { $0.results[call] = results } }

    /// Fails every call of a kind that has no scripted result.
    func fail(_ call: KeychainCall, with status: KeychainStatus) { program.withLock { $0.standing[call] = status } }

    /// Runs a closure before the next call of a kind.
    func before(_ call: KeychainCall, _ body: @escaping @Sendable () -> Void) {
        program.withLock { $0.before[call] = body }
    }

    /// Runs a program that dies after the first call, the second, and so on until it completes. The last call that has
    /// an effect returns an error, and in later runs its result. The body runs the program and examines the model.
    /// The result is the number of later runs.
    @discardableResult static func forEveryDeath(
        over makeModel: () throws -> ModelKeychain,
        _ body: (_ model: ModelKeychain, _ dying: ModelKeychain) async throws -> Void
    ) async throws -> Int {
        var runs = 0
        for returnsLastResult in [false, true] {
            for calls in 0... {
                let model = try makeModel()
                let dying = ModelKeychain(on: model, dyingAfter: calls, returnsLastResult: returnsLastResult)
                try await body(model, dying)
                runs = calls + 1
                if !dying.program.withLock({ $0.isDead }) { break }
            }
        }
        return runs
    }

    // MARK: The four calls

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        try perform(.copyMatching, query) { location, device throws(KeychainStatus) in
            let found = try matches(location, in: device).map { device.items[$0] }
            let wanted = query.limit == .all ? found : Array(found.prefix(1))
            for item in wanted where query.returnsData { try checkIsReadable(item, device) }
            return wanted.map {
                KeychainItem(accessGroup: $0.location.accessGroup, data: query.returnsData ? $0.data : nil)
            }
        }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        try perform(.add, query, values) { location, device throws(KeychainStatus) in
            let item = Item(location: inGroup(location), accessibility: values.accessibility, data: values.data)
            try checkIsUnlocked(item, device)
            let isThere = device.items.contains { $0.location == item.location }
            if isThere { throw .duplicateItem }
            device.items.append(item)
        }
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        try perform(.update, query, values) { location, device throws(KeychainStatus) in
            let found = try matches(location, in: device)
            for index in found { try checkIsUnlocked(device.items[index], device) }
            for index in found {
                device.items[index].data = values.data
                device.items[index].accessibility = values.accessibility ?? device.items[index].accessibility
                device.damaged.remove(device.items[index].location)
            }
        }
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        try perform(.delete, query) { location, device throws(KeychainStatus) in
            let found = try matches(location, in: device)
            if location.keychain == .dataProtection && device.protection == .beforeFirstUnlock {
                throw .interactionNotAllowed
            }
            // The data-protection Keychain deletes every item that matches, the file-based one the first.
            let removed = location.keychain == .fileBased ? Array(found.prefix(1)) : found
            for index in removed.reversed() { device.items.remove(at: index) }
        }
    }

    // MARK: The rules

    private func perform<Value>(
        _ call: KeychainCall, _ query: KeychainQuery, _ values: KeychainValues? = nil,
        _ body: (_ location: KeychainLocation, _ device: inout Device) throws(KeychainStatus) -> Value
    ) throws(KeychainStatus) -> Value {
        let (number, failure, before) = program.withLock { program in
            program.asked.append(Asked(call: call, location: query.location, accessibility: values?.accessibility))
            var failure = program.standing[call]
            if let next = program.results[call]?.first {
                program.results[call]?.removeFirst()
                failure = next
            }
            return (program.asked.count, failure, program.before.removeValue(forKey: call))
        }
        guard number <= life.calls else { throw die() }
        before?()
        if let failure { throw failure }
        try checkParameters(call, query)
        let location = try checked(query.location)
        let value = try device.withLock { device throws(KeychainStatus) in try body(location, &device) }
        guard number < life.calls || life.returnsLastResult else { throw die() }
        return value
    }

    private func die() -> KeychainStatus {
        program.withLock { $0.isDead = true }
        return .notAvailable
    }

    /// Only a search has a limit, and the file-based Keychain does not return the data of several items.
    private func checkParameters(_ call: KeychainCall, _ query: KeychainQuery) throws(KeychainStatus) {
        let isSearch = query.limit != nil || query.returnsData
        let isOfSeveral = query.returnsData && query.limit == .all && isFileBased(query.location)
        if call == .copyMatching ? isOfSeveral : isSearch { throw .invalidParameter }
    }

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

    /// The location of a new item.
    private func inGroup(_ location: KeychainLocation) -> KeychainLocation {
        location.inGroup(location.keychain == .dataProtection ? location.accessGroup ?? groups.first : nil)
    }

    private func matches(_ location: KeychainLocation, in device: Device) throws(KeychainStatus) -> [Int] {
        let found = device.items.indices.filter { index in
            let item = device.items[index]
            guard location.covers(item.location) else { return false }
            if location.keychain == .fileBased { return true }
            return device.protection != .beforeFirstUnlockAndHidden && groups.contains(item.location.accessGroup ?? "")
        }
        if found.isEmpty { throw .itemNotFound }
        return found
    }

    private func checkIsUnlocked(_ item: Item, _ device: Device) throws(KeychainStatus) {
        guard item.location.keychain == .dataProtection else { return }
        switch (device.protection, item.accessibility) {
        case (.unlocked, _), (.locked, .afterFirstUnlockThisDeviceOnly): return
        default: throw .interactionNotAllowed
        }
    }

    private func checkIsReadable(_ item: Item, _ device: Device) throws(KeychainStatus) {
        try checkIsUnlocked(item, device)
        if device.damaged.contains(item.location) { throw .decodingFailed }
    }
}

/// Darwin notifications of one name, in memory.
struct ModelChangeSignal: ChangeSignal {
    private let broadcast = Broadcast<Void>()

    func post() { broadcast.send(()) }

    var reports: AsyncStream<Void> { broadcast.stream() }
}
