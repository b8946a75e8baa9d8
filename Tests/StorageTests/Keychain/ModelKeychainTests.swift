import Foundation
import Testing

@testable import Storage

@Suite("The model Keychain behaves as the Keychain is documented")
struct ModelKeychainTests {
    private let model = ModelKeychain()
    private static let values = KeychainValues(data: .one, accessibility: .afterFirstUnlockThisDeviceOnly)
    private static let whenUnlocked = KeychainValues(data: .one, accessibility: .whenUnlockedThisDeviceOnly)

    @Test(arguments: [
        ("the same item", KeychainLocation.own, KeychainStatus.duplicateItem),
        ("another account", KeychainLocation(service: "org.example.articles", account: "bert"), nil),
        ("another service", KeychainLocation(service: "org.example.notes", account: "anna"), nil),
        ("another group", KeychainLocation.own.inGroup("shared.group"), nil),
        ("its own group by name", KeychainLocation.own.inGroup("own.group"), .duplicateItem),
    ])
    func `service, account and group are the primary key`(row: (String, KeychainLocation, KeychainStatus?)) throws {
        try model.add(KeychainQuery(location: .own), Self.values)
        #expect(status { try model.add(KeychainQuery(location: row.1), Self.values) } == row.2, "\(row.0)")
    }

    @Test func `an item that iCloud synchronizes is another item, and is not found`() throws {
        model.insert(.init(location: .own.inGroup("own.group"), isSynchronizable: true, data: .one))
        #expect(status { _ = try model.copyMatching(.reading(.own)) } == .itemNotFound)
        try model.add(KeychainQuery(location: .own), Self.values)
        #expect(model.items.count == 2)
    }

    @Test(arguments: KeychainCall.allCases)
    func `an item that does not exist is not found, and can only be added`(call: KeychainCall) {
        #expect(ModelKeychain().status(of: call) == (call == .add ? nil : .itemNotFound))
    }

    @Test func `an item is added to the first group, and found in all`() throws {
        try model.add(KeychainQuery(location: .own), Self.values)
        try model.add(KeychainQuery(location: .own.inGroup("shared.group")), Self.values)
        #expect(model.items.map(\.location.accessGroup) == ["own.group", "shared.group"])
        let found = try model.copyMatching(KeychainQuery(location: .own, limit: .all))
        #expect(found.map(\.accessGroup) == ["own.group", "shared.group"])
        #expect(try model.copyMatching(KeychainQuery(location: .own, limit: .one)).count == 1)
    }

    @Test(arguments: KeychainCall.allCases)
    func `a group and the data-protection Keychain need an entitlement`(call: KeychainCall) {
        #expect(ModelKeychain(groups: ["own.group"]).status(of: call, at: .foreign) == .missingEntitlement)
        #expect(ModelKeychain(groups: []).status(of: call) == .missingEntitlement)
    }

    @Test func `an update and a delete affect all items that match`() throws {
        try model.add(KeychainQuery(location: .own), Self.values)
        try model.add(KeychainQuery(location: .own.inGroup("shared.group")), Self.values)
        try model.update(KeychainQuery(location: .own), to: KeychainValues(data: .two, accessibility: nil))
        #expect(model.items.map(\.data) == [.two, .two])
        #expect(model.items.allSatisfy { $0.accessibility == .afterFirstUnlockThisDeviceOnly })
        try model.delete(KeychainQuery(location: .own))
        #expect(model.items.isEmpty)
    }

    @Test func `the file-based Keychain deletes the first item that matches, and leaves the others`() throws {
        let model = ModelKeychain(groups: [], hasFileBasedKeychain: true)
        for data in [Data.one, .two] { model.insert(data, at: .fileBased) }
        try model.delete(KeychainQuery(location: .fileBased))
        #expect(model.items.map(\.data) == [.two])
        try model.delete(KeychainQuery(location: .fileBased))
        #expect(model.status(of: .delete, at: .fileBased) == .itemNotFound)
    }

    @Test(arguments: [
        (ModelKeychain.Protection.unlocked, KeychainStatus?.none, KeychainStatus?.none),
        (.locked, nil, .interactionNotAllowed),
        (.beforeFirstUnlock, .interactionNotAllowed, .interactionNotAllowed),
        (.beforeFirstUnlockAndHidden, .itemNotFound, .itemNotFound),
    ])
    func `data is read when its accessibility allows`(
        row: (ModelKeychain.Protection, afterFirstUnlock: KeychainStatus?, whenUnlocked: KeychainStatus?)
    ) throws {
        for (values, expected) in [(Self.values, row.afterFirstUnlock), (Self.whenUnlocked, row.whenUnlocked)] {
            let model = ModelKeychain()
            try model.add(KeychainQuery(location: .own), values)
            model.set(row.0)
            #expect(model.status(of: .copyMatching) == expected)
            #expect(model.status(of: .update, values) == expected)
        }
    }

    @Test func `nothing can be added or deleted before the first unlock`() throws {
        try model.add(KeychainQuery(location: .own), Self.values)
        model.set(.beforeFirstUnlock)
        #expect(model.status(of: .add, at: .older) == .interactionNotAllowed)
        #expect(model.status(of: .delete) == .interactionNotAllowed)
        model.set(.beforeFirstUnlockAndHidden)
        #expect(model.status(of: .add, at: .older) == .interactionNotAllowed)
        #expect(model.status(of: .delete) == .itemNotFound)
        #expect(model.items.count == 1)
    }

    @Test func `attributes are found where data cannot be read`() throws {
        try model.add(KeychainQuery(location: .own), Self.whenUnlocked)
        model.set(.locked)
        let found = try model.copyMatching(KeychainQuery(location: .own, limit: .all))
        #expect(found == [KeychainItem(accessGroup: "own.group", data: nil)])
    }

    @Test func `a Mac has two Keychains, and every other device one`() throws {
        for (model, isShared) in [(ModelKeychain(hasFileBasedKeychain: true), false), (ModelKeychain(), true)] {
            try model.add(KeychainQuery(location: .fileBased), KeychainValues(data: .one, accessibility: nil))
            #expect(model.status(of: .copyMatching, at: .fileBased) == nil)
            #expect((model.status(of: .copyMatching) == nil) == isShared)
        }
    }

    @Test func `the file-based Keychain has no groups, and does not depend on the device's lock`() throws {
        let model = ModelKeychain(groups: [], hasFileBasedKeychain: true)
        try model.add(KeychainQuery(location: .fileBased), KeychainValues(data: .one, accessibility: nil))
        model.set(.beforeFirstUnlock)
        #expect(try model.copyMatching(.reading(.fileBased)) == [KeychainItem(accessGroup: nil, data: .one)])
    }

    @Test func `only a search may have a limit, and an older Keychain does not return the data of all items`() throws {
        let model = ModelKeychain(hasFileBasedKeychain: true)
        let limited = [KeychainQuery(location: .own, limit: .one), KeychainQuery(location: .own, returnsData: true)]
        for query in limited {
            #expect(status { try model.add(query, Self.values) } == .invalidParameter)
            #expect(status { try model.update(query, to: Self.values) } == .invalidParameter)
            #expect(status { try model.delete(query) } == .invalidParameter)
        }
        let all = KeychainQuery(location: .fileBased, returnsData: true, limit: .all)
        #expect(status { _ = try model.copyMatching(all) } == .invalidParameter)
    }

    @Test func `an item that cannot be decrypted can be replaced`() throws {
        model.insert(.one, at: .own)
        model.damage(.own.inGroup("own.group"))
        #expect(model.status(of: .copyMatching) == .decodingFailed)
        #expect(model.status(of: .update) == nil)
        #expect(model.status(of: .copyMatching) == nil)
    }
}

private func status(of call: () throws -> Void) -> KeychainStatus? {
    do {
        try call()
        return nil
    } catch {
        return error as? KeychainStatus
    }
}

extension ModelKeychain {
    fileprivate func status(
        of call: KeychainCall,
        at location: KeychainLocation = .own,
        _ values: KeychainValues = KeychainValues(data: .two, accessibility: .afterFirstUnlockThisDeviceOnly)
    ) -> KeychainStatus? {
        StorageTests.status {
            switch call {
            case .copyMatching: _ = try copyMatching(.reading(location))
            case .add: try add(KeychainQuery(location: location), values)
            case .update: try update(KeychainQuery(location: location), to: values)
            case .delete: try delete(KeychainQuery(location: location))
            }
        }
    }
}

extension KeychainQuery {
    fileprivate static func reading(_ location: KeychainLocation) -> KeychainQuery {
        KeychainQuery(location: location, returnsData: true, limit: .one)
    }
}

extension KeychainLocation {
    fileprivate static let foreign = own.inGroup("foreign.group")
    fileprivate static let fileBased = KeychainLocation(
        service: own.service,
        account: own.account,
        keychain: .fileBased
    )
}

extension Data {
    fileprivate static let one = Data("one".utf8)
    fileprivate static let two = Data("two".utf8)
}
