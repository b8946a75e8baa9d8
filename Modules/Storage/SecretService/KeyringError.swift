#if os(Linux)
/// Why a call of the Secret Service failed.
enum KeyringError: Error {
    /// The message of the service. It never contains a secret.
    case failed(String)

    /// The default keyring, or one with an item of the account, is locked.
    case locked

    /// There is no default keyring.
    case absent
}
#endif
