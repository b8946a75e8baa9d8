/// When a stored item can be read.
///
/// In both cases a backup does not restore it on another device: a refresh token that two devices use ends the session
/// on both, if the server rotates tokens.
public enum KeychainAccessibility: Sendable, Hashable {
    /// From the first unlock after a start of the device, so that background tasks can refresh:
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
    case afterFirstUnlockThisDeviceOnly

    /// While the device is unlocked: `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`. Background tasks on a locked
    /// device can neither load nor save.
    case whenUnlockedThisDeviceOnly
}
