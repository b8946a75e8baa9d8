import Foundation
import Testing

@testable import Storage

@Suite("The model Keychain behaves as the Keychain is documented")
struct ModelKeychainTests {
    private let model = ModelKeychain()

    @Test(
        arguments: [
            ("the same item", .own, .duplicateItem), ("another account", .bert, nil), ("another service", .older, nil),
            ("another group", .own.inGroup("shared.group"), nil),
            ("its own group by name", .own.inGroup("own.group"), .duplicateItem),
        ] as [(String, KeychainLocation, KeychainStatus?)])
    func `service, account and group are the primary key`(
        name: String, location: KeychainLocation, expected: KeychainStatus?
    ) {
        #expect(model.status(of: .add) == nil)
        #expect(model.status(of: .add, at: location) == expected, "\(name)")
    }

    @Test func `an item that iCloud synchronizes is another item, and is not found`() {
        model.insert(.init(location: .own.inGroup("own.group"), isSynchronizable: true, data: .two))
        #expect(model.status(of: .copyMatching) == .itemNotFound)
        #expect(model.status(of: .add) == nil && model.items.count == 2)
    }

    @Test(arguments: KeychainCall.allCases)
    func `a missing item can only be added, and a group and the data-protection Keychain need an entitlement`(
        call: KeychainCall
    ) {
        #expect(model.status(of: call) == (call == .add ? nil : .itemNotFound))
        #expect(model.status(of: call, at: .own.inGroup("foreign.group")) == .missingEntitlement)
        #expect(ModelKeychain(groups: []).status(of: call) == .missingEntitlement)
    }

    @Test func `an item is added to the first group, and found, updated and deleted in all`() throws {
        for location in [KeychainLocation.own, .own.inGroup("shared.group")] {
            #expect(model.status(of: .add, at: location) == nil)
        }
        let found = try model.copyMatching(KeychainQuery(location: .own, limit: .all))
        #expect(found.map(\.accessGroup) == ["own.group", "shared.group"])
        #expect(try model.copyMatching(KeychainQuery(location: .own, limit: .one)).count == 1)
        try model.update(KeychainQuery(location: .own), to: KeychainValues(data: .one, accessibility: nil))
        #expect(model.items.allSatisfy { $0.data == .one && $0.accessibility == .afterFirstUnlockThisDeviceOnly })
        #expect(model.status(of: .delete) == nil && model.items.isEmpty)
    }

    @Test func `the file-based Keychain deletes the first item that matches, and knows no groups and no lock`() throws {
        let model = ModelKeychain.ofAnOlderMac
        for data in [Data.one, .two] { model.insert(data, at: .fileBased) }
        model.set(.beforeFirstUnlock)
        let query = KeychainQuery(location: .fileBased, returnsData: true, limit: .one)
        #expect(try model.copyMatching(query) == [KeychainItem(accessGroup: nil, data: .one)])
        #expect(model.status(of: .delete, at: .fileBased) == nil && model.items.map(\.data) == [.two])
        #expect(model.status(of: .delete, at: .fileBased) == nil)
        #expect(model.status(of: .delete, at: .fileBased) == .itemNotFound)
    }

    typealias Statuses = [KeychainCall: KeychainStatus]

    /// The calls that fail for an item that may be read after the first unlock, and for one of an unlocked device.
    private static let protections: [(ModelKeychain.Protection, afterFirstUnlock: Statuses, whenUnlocked: Statuses)] = {
        let closed = Statuses(uniqueKeysWithValues: KeychainCall.allCases.map { ($0, .interactionNotAllowed) })
        var hidden = closed.mapValues { _ in KeychainStatus.itemNotFound }
        hidden[.add] = .interactionNotAllowed
        return [
            (.unlocked, [:], [:]), (.beforeFirstUnlock, closed, closed), (.beforeFirstUnlockAndHidden, hidden, hidden),
            (.locked, [:], [.copyMatching: .interactionNotAllowed, .update: .interactionNotAllowed]),
        ]
    }()

    @Test(arguments: protections)
    func `calls succeed when the accessibility of the item allows`(
        row: (ModelKeychain.Protection, afterFirstUnlock: Statuses, whenUnlocked: Statuses)
    ) throws {
        for (accessibility, expected) in [
            (KeychainAccessibility.afterFirstUnlockThisDeviceOnly, row.afterFirstUnlock),
            (.whenUnlockedThisDeviceOnly, row.whenUnlocked),
        ] {
            for call in KeychainCall.allCases {
                let (model, values) = (ModelKeychain(), KeychainValues(data: .one, accessibility: accessibility))
                try model.add(KeychainQuery(location: .own), values)
                model.set(row.0)
                let location = call == .add ? KeychainLocation.older : .own
                #expect(model.status(of: call, at: location) == expected[call], "\(call)")
            }
        }
    }

    @Test func `attributes are found where data cannot be read`() throws {
        let location = KeychainLocation.own.inGroup("own.group")
        model.insert(.init(location: location, accessibility: .whenUnlockedThisDeviceOnly, data: .one))
        model.set(.locked)
        let found = try model.copyMatching(KeychainQuery(location: .own, limit: .all))
        #expect(found == [KeychainItem(accessGroup: "own.group", data: nil)])
    }

    @Test func `a Mac has two Keychains, and every other device one`() {
        for (model, isShared) in [(ModelKeychain(hasFileBasedKeychain: true), false), (ModelKeychain(), true)] {
            #expect(model.status(of: .add, at: .fileBased) == nil)
            #expect(model.status(of: .copyMatching, at: .fileBased) == nil)
            #expect((model.status(of: .copyMatching) == nil) == isShared)
        }
    }

    @Test func `only a search may have a limit, and an older Keychain does not return the data of all items`() {
        let model = ModelKeychain(hasFileBasedKeychain: true)
        for call in KeychainCall.allCases where call != .copyMatching {
            #expect(model.status(of: call, KeychainQuery(location: .own, limit: .one)) == .invalidParameter)
            #expect(model.status(of: call, KeychainQuery(location: .own, returnsData: true)) == .invalidParameter)
        }
        let all = KeychainQuery(location: .fileBased, returnsData: true, limit: .all)
        #expect(model.status(of: .copyMatching, all) == .invalidParameter)
    }

    @Test func `an item that cannot be decrypted can be replaced`() {
        model.insert(.one, at: .own)
        model.damage(.own.inGroup("own.group"))
        #expect(model.status(of: .copyMatching) == .decodingFailed)
        #expect(model.status(of: .update) == nil)
        #expect(model.status(of: .copyMatching) == nil)
    }
}

extension ModelKeychain {
    /// The error of a call.
    fileprivate func status(
        of call: KeychainCall, at location: KeychainLocation = .own, _ query: KeychainQuery? = nil
    ) -> KeychainStatus? {
        let search = query ?? KeychainQuery(location: location, returnsData: true, limit: .one)
        let query = query ?? KeychainQuery(location: location)
        let values = KeychainValues(
            data: .two, accessibility: location.keychain == .fileBased ? nil : .afterFirstUnlockThisDeviceOnly)
        do throws(KeychainStatus) {
            switch call {
            case .copyMatching: _ = try copyMatching(search)
            case .add: try add(query, values)
            case .update: try update(query, to: values)
            case .delete: try delete(query)
            }
            return nil
        } catch {
            return error
        }
    }
}

extension KeychainLocation {
    fileprivate static let bert = KeychainLocation(service: own.service, account: "bert")
    fileprivate static let fileBased = KeychainLocation(
        service: own.service, account: own.account, keychain: .fileBased)
}

extension Data {
    fileprivate static let one = Data("one".utf8)
    fileprivate static let two = Data("two".utf8)
}
