import Foundation
import Testing

@testable import Storage

/// The rules of the model that no test of the store would miss: it fails where others do not hold.
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

    @Test(arguments: KeychainCall.allCases)
    func `a missing item can only be added, and a group and the data-protection Keychain need an entitlement`(
        call: KeychainCall
    ) {
        #expect(model.status(of: call) == (call == .add ? nil : .itemNotFound))
        #expect(model.status(of: call, at: .own.inGroup("foreign.group")) == .missingEntitlement)
        #expect(ModelKeychain(groups: []).status(of: call) == .missingEntitlement)
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

    @Test func `only a search may have a limit, and an older Keychain does not return the data of all items`() {
        let model = ModelKeychain(hasFileBasedKeychain: true)
        for call in KeychainCall.allCases where call != .copyMatching {
            #expect(model.status(of: call, KeychainQuery(location: .own, limit: .one)) == .invalidParameter)
            #expect(model.status(of: call, KeychainQuery(location: .own, returnsData: true)) == .invalidParameter)
        }
        let all = KeychainQuery(location: .fileBased, returnsData: true, limit: .all)
        #expect(model.status(of: .copyMatching, all) == .invalidParameter)
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
