public import Foundation

/// Checks whether protected data is available, for an extension, which has no `UIApplication`.
///
/// It reads a file with the data protection of the items. Before the device has been unlocked, the file cannot be read,
/// and "not found" from the Keychain is not certain.
///
/// ```swift
/// let probe = ProtectedDataProbe(file: container.appendingPathComponent("unlocked"))
/// let store = KeychainTokenStore(at: location) { await probe.isProtectedDataAvailable() }
/// ```
/// An application may use it too. `UIApplication.isProtectedDataAvailable` is `false` whenever the device is locked;
/// the probe is `true` from the first unlock on if the items can be read from then on.
///
/// The system's data protection is not tested: on other systems the file can always be read.
public struct ProtectedDataProbe: Sendable {
    private let file: URL
    private let accessibility: KeychainAccessibility
    private let reading = BlockingQueue(label: "protected-data-probe")

    /// Creates a probe.
    ///
    /// - Parameters:
    ///   - file: A file for this probe only, in Application Support or in the container of an app group. It is created
    ///     when the device is unlocked; its folder must exist.
    ///   - accessibility: The accessibility of the items.
    public init(file: URL, accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly) {
        self.file = file
        self.accessibility = accessibility
    }

    /// Whether protected data is available, because the file could be read or created.
    public func isProtectedDataAvailable() async -> Bool {
        await reading.run {
            if isReadable() { return true }
            let (files, content) = (FileManager.default, Data("unlocked\n".utf8))
            guard !files.fileExists(atPath: file.path) else { return false }
            return files.createFile(atPath: file.path, contents: content, attributes: attributes) && isReadable()
        }
    }

    private func isReadable() -> Bool { (try? Data(contentsOf: file))?.isEmpty == false }

    private var attributes: [FileAttributeKey: Any] {
        #if canImport(Darwin)
        let protection: FileProtectionType =
            switch accessibility {
            case .afterFirstUnlockThisDeviceOnly: .completeUntilFirstUserAuthentication
            case .whenUnlockedThisDeviceOnly: .complete
            }
        return [.protectionKey: protection]
        #else
        return [:]
        #endif
    }
}
