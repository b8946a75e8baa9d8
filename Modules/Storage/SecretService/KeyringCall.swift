#if os(Linux)
import ConcurrencyPrimitives
import Foundation

/// The calls of the Secret Service for one read or write.
///
/// It blocks its thread, is used by one thread only, and keeps every GLib object until it is deallocated.
final class KeyringCall {
    struct Item {
        /// Its content, or `nil` if its keyring is locked.
        let secret: Data?

        /// When it was last written, in seconds since 1970.
        let modified: UInt64

        fileprivate let object: LibSecret.Object
    }

    /// The name of the schema, which separates the items from those of other programs.
    private static let schemaName = "latchkey.TokenBundle"

    /// `SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS`, and not `SECRET_SEARCH_UNLOCK`, which may ask the user.
    private static let searchFlags: Int32 = 1 << 1 | 1 << 3

    /// `SECRET_SERVICE_OPEN_SESSION`: secrets cross the bus encrypted.
    private static let serviceFlags: Int32 = 1 << 1

    /// `SECRET_COLLECTION_DEFAULT`
    private static let defaultKeyring = "default"

    private let library: LibSecret
    private let limit: KeyringCallLimit
    private let service: LibSecret.Object
    private var objects: [LibSecret.Object] = []

    /// Connects to the service. The limit is for all calls together, as the service may hang or wait for the user.
    init(_ library: LibSecret, limit: Duration) throws(KeyringError) {
        self.library = library
        let limit = KeyringCallLimit(library, limit)
        self.limit = limit
        // By default GLib ends the process when the session bus is closed.
        let bus = try Self.attempt("the session bus", limit) { library.bus(2, limit.cancellable, $0) }
        library.setExitsOnClose(bus, 0)
        library.release(bus)
        service = try Self.attempt("the Secret Service, asked for a session,", limit) {
            library.service(Self.serviceFlags, limit.cancellable, $0)
        }
    }

    deinit { for object in objects + [service] { library.release(object) } }

    /// Whether the keyring that new items go to is locked. `nil`: the keyring is missing.
    func isDefaultKeyringLocked() throws(KeyringError) -> Bool? {
        let collection = try limit.check("the Secret Service, asked for the default keyring,") {
            library.collection(service, Self.defaultKeyring, 0, limit.cancellable, $0)
        }
        guard let collection else { return nil }
        objects.append(collection)
        return library.isCollectionLocked(collection) != 0
    }

    /// The items of an account, in every keyring.
    func items(of account: KeyringAccount) throws(KeyringError) -> [Item] {
        try withAttributes(of: account) { schema, attributes throws(KeyringError) in
            let list = try limit.check("the Secret Service, asked for the item,") {
                library.search(service, schema, attributes, Self.searchFlags, limit.cancellable, $0)
            }
            defer { library.freeList(list) }
            var items: [Item] = []
            var next = list
            while let entry = next?.load(as: LibSecret.GList.self) {
                if let object = entry.data { items.append(item(object)) }
                next = entry.next
            }
            return items
        }
    }

    /// Adds or replaces the item in the default keyring.
    func store(_ secret: Data, as account: KeyringAccount) throws(KeyringError) {
        let text = String(decoding: secret, as: UTF8.self)
        try withAttributes(of: account) { schema, attributes throws(KeyringError) in
            try attempt("to store") {
                library.store(schema, attributes, Self.defaultKeyring, account.label, text, limit.cancellable, $0)
            }
        }
    }

    func delete(_ item: Item) throws(KeyringError) {
        try attempt("to delete") { library.delete(item.object, limit.cancellable, $0) }
    }

    private func item(_ object: LibSecret.Object) -> Item {
        objects.append(object)
        let isLocked = library.isItemLocked(object) != 0
        return Item(secret: isLocked ? nil : secret(of: object), modified: library.modified(object), object: object)
    }

    private func secret(of item: LibSecret.Object) -> Data? {
        guard let secret = library.secret(item) else { return nil }
        defer { library.releaseSecret(secret) }
        var count = 0
        return library.bytes(secret, &count).map { Data(bytes: $0, count: count) }
    }

    private func withAttributes<Value>(
        of account: KeyringAccount,
        _ body: (_ schema: LibSecret.Object?, _ attributes: LibSecret.Object?) throws(KeyringError) -> Value
    ) throws(KeyringError) -> Value {
        // The library's texts end there, so the item would be that of another account.
        guard !account.attributes.contains(where: { $0.value.utf8.contains(0) }) else {
            throw .failed("the name of an account or application in a keyring has no zero byte")
        }
        let names = library.newTable(library.hashText, library.equalText)
        let values = library.newTable(library.hashText, library.equalText)
        var texts: [UnsafeMutablePointer<CChar>?] = []
        for (name, value) in account.attributes {
            texts += [strdup(name), strdup(value)]
            _ = library.insert(names, texts[texts.count - 2], nil)  // SECRET_SCHEMA_ATTRIBUTE_STRING is 0
            _ = library.insert(values, texts[texts.count - 2], texts[texts.count - 1])
        }
        let schema = library.newSchema(Self.schemaName, 0, names)
        defer {
            library.releaseSchema(schema)
            library.releaseTable(names)
            library.releaseTable(values)
            for text in texts { free(text) }
        }
        return try body(schema, values)
    }

    private func attempt(_ request: String, _ call: (LibSecret.FailureSlot?) -> Int32) throws(KeyringError) {
        let isDone = try limit.check("the Secret Service, asked \(request) the item,", call) != 0
        if !isDone { throw .failed("it was not stored or deleted") }
    }

    private static func attempt(
        _ callee: String, _ limit: KeyringCallLimit, _ call: (LibSecret.FailureSlot?) -> LibSecret.Object?
    ) throws(KeyringError) -> LibSecret.Object {
        guard let object = try limit.check(callee, call) else { throw .failed("no response") }
        return object
    }
}

/// The time limit of a call: GLib's calls end when their cancellable is cancelled.
private final class KeyringCallLimit: @unchecked Sendable {  // GLib lets any thread cancel
    let cancellable: LibSecret.Object?

    private let library: LibSecret
    private let limit: Duration
    private let hasPassed = Locked(false)
    private let timer = DispatchSource.makeTimerSource(queue: .global())

    init(_ library: LibSecret, _ limit: Duration) {
        self.library = library
        self.limit = limit
        cancellable = library.newCancellable()
        timer.setEventHandler { [weak self] in
            // This reference keeps the cancellable from being released.
            guard let self else { return }
            hasPassed.withLock { $0 = true }
            self.library.cancel(self.cancellable)
        }
        timer.schedule(deadline: .now() + limit / .seconds(1))
        timer.resume()
    }

    /// Makes a call, and throws its error.
    func check<Value>(_ callee: String, _ call: (LibSecret.FailureSlot?) -> Value) throws(KeyringError) -> Value {
        var failure: LibSecret.Object?
        let value = call(&failure)
        if let failure { throw error(of: failure, from: callee) }
        return value
    }

    /// The error of a call. One that the limit has cancelled names what did not respond.
    private func error(of failure: LibSecret.Object, from callee: String) -> KeyringError {
        defer { library.freeFailure(failure) }
        if hasPassed.withLock({ $0 }) { return .silent("\(callee) did not respond within \(limit.inWords)") }
        let message = failure.load(as: LibSecret.GError.self).message
        let reason = message.map { String(cString: $0) } ?? "no reason given"
        // KeePassXC names its default keyring, and has no object of that name.
        let isNameless = reason.contains("/aliases/default")
        return .failed(isNameless ? reason + "; use another keyring program, or a FileTokenStore" : reason)
    }

    deinit {
        timer.cancel()
        library.release(cancellable)
    }
}
#endif
