import AuthInterface
import Testing

@testable import Storage

@Suite("A status of the Keychain has its documented name and number")
struct KeychainStatusTests {
    @Test(arguments: [
        (KeychainStatus.success, "errSecSuccess (0)"),
        (.ioFailed, "errSecIO (-36)"),
        (.invalidParameter, "errSecParam (-50)"),
        (.userCancelled, "errSecUserCanceled (-128)"),
        (.notAvailable, "errSecNotAvailable (-25291)"),
        (.authenticationFailed, "errSecAuthFailed (-25293)"),
        (.duplicateItem, "errSecDuplicateItem (-25299)"),
        (.itemNotFound, "errSecItemNotFound (-25300)"),
        (.interactionNotAllowed, "errSecInteractionNotAllowed (-25308)"),
        (.interactionRequired, "errSecInteractionRequired (-25315)"),
        (.inDarkWake, "errSecInDarkWake (-25320)"),
        (.decodingFailed, "errSecDecode (-26275)"),
        (.missingEntitlement, "errSecMissingEntitlement (-34018)"),
        (KeychainStatus(rawValue: -1), "OSStatus -1"),
    ])
    func `a status is described by both`(row: (status: KeychainStatus, description: String)) {
        #expect(row.status.description == row.description)
    }

    @Test func `an error names the call, the location and the meaning of the status`() {
        let error = TokenStoreError.keychain(.interactionNotAllowed, "read", .own.inGroup("shared.group"))
        #expect(
            error.reason == "could not read the Keychain item org.example.articles/anna in shared.group: it is locked "
                + "until the device is unlocked, errSecInteractionNotAllowed (-25308)"
        )
    }
}
