import AuthInterface
import Testing

@testable import Storage

@Suite("G14: a read of the Keychain store returns a bundle, none or unavailable") struct KeychainFailureTests {
    private let model = ModelKeychain()

    private static let refusals: [KeychainStatus] = [
        .interactionNotAllowed, .notAvailable, .authenticationFailed, .missingEntitlement, .decodingFailed,
        .interactionRequired, .inDarkWake, .userCancelled, .ioFailed, .invalidParameter, .duplicateItem,
        KeychainStatus(rawValue: -67_808),
    ]

    @Test(arguments: refusals)
    func `every other status is unavailable, and changes nothing`(status: KeychainStatus) async throws {
        try model.insert(TokenBundle.numbered(1).stored, at: .own)
        let before = model.items
        for call in KeychainCall.allCases { model.fail(call, with: status) }
        let store = KeychainTokenStore.over(model)
        let calls: [() async throws -> Void] = [
            { _ = try await store.load() }, { try await store.save(.numbered(2)) }, { try await store.delete() },
        ]
        for call in calls {
            let error = await #expect(throws: TokenStoreError.self) { try await call() }
            #expect(error?.code == .unavailable)
            #expect(error?.cause as? KeychainStatus == status)
        }
        #expect(model.items == before)
    }

    @Test func `a prewarmed launch does not sign the user out`() async throws {
        let isUnlocked = Flag(false)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)]) { [model] in
            if isUnlocked.isSet { model.set(.unlocked) }
            return isUnlocked.isSet
        }
        try model.insert(TokenBundle.numbered(1).stored, at: .own)
        try model.insert(TokenBundle.numbered(0).stored, at: .older)
        for protection in [ModelKeychain.Protection.beforeFirstUnlock, .beforeFirstUnlockAndHidden] {
            model.set(protection)
            await store.expectFailures(.unavailable)
        }
        for call in [{ _ = try await store.load() }, { try await store.delete() }] as [() async throws -> Void] {
            let error = await #expect(throws: TokenStoreError.self) { try await call() }
            #expect(error?.cause as? KeychainStatus == .itemNotFound)
        }
        #expect(model.items.count == 2)
        // The device is unlocked during the call.
        isUnlocked.isSet = true
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: [KeychainAccessibility.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly])
    func `an item for the unlocked device is unavailable on a locked one, and another one is found and replaced`(
        accessibility: KeychainAccessibility
    ) async throws {
        let store = KeychainTokenStore.over(model, accessibility: accessibility) { false }
        try await store.save(.numbered(1))
        model.set(.locked)
        if accessibility == .whenUnlockedThisDeviceOnly {
            await store.expectFailures(of: [.load, .save], .unavailable)
            model.set(.unlocked)
        }
        #expect(try await store.load() == .numbered(1))
        try await store.expectRoundTrip(of: .numbered(2))
        try await store.delete()
        #expect(model.items.isEmpty)
    }

    @Test func `an item of a later version is changed by delete only`() async throws {
        model.insert(.ofLaterVersion, at: .own)
        let store = KeychainTokenStore.over(model)
        await store.expectFailures(of: [.load, .save], .unsupportedVersion)
        #expect(model.data(at: .own) == .ofLaterVersion)
        try await store.delete()
        #expect(try await store.load() == nil)
    }
}

@Suite("A status of the Keychain has its documented name and number") struct KeychainStatusTests {
    @Test(
        arguments: [
            (.success, "errSecSuccess (0)"), (.ioFailed, "errSecIO (-36)"), (.invalidParameter, "errSecParam (-50)"),
            (.userCancelled, "errSecUserCanceled (-128)"), (.notAvailable, "errSecNotAvailable (-25291)"),
            (.authenticationFailed, "errSecAuthFailed (-25293)"), (.duplicateItem, "errSecDuplicateItem (-25299)"),
            (.itemNotFound, "errSecItemNotFound (-25300)"), (.inDarkWake, "errSecInDarkWake (-25320)"),
            (.interactionNotAllowed, "errSecInteractionNotAllowed (-25308)"),
            (.interactionRequired, "errSecInteractionRequired (-25315)"), (.decodingFailed, "errSecDecode (-26275)"),
            (.missingEntitlement, "errSecMissingEntitlement (-34018)"), (.init(rawValue: -1), "OSStatus -1"),
        ] as [(KeychainStatus, String)])
    func `a status is described by both`(status: KeychainStatus, description: String) {
        #expect(status.description == description)
    }

    @Test func `an error names the call, the location and the meaning of the status`() {
        let error = TokenStoreError.keychain(.interactionNotAllowed, "read", .own.inGroup("shared.group"))
        #expect(
            error.reason == "could not read the Keychain item org.example.articles/anna in shared.group: it is locked "
                + "until the device is unlocked, errSecInteractionNotAllowed (-25308)"
        )
    }
}
