#if os(Linux)
import Foundation

/// The functions of libsecret and GLib that the store needs.
///
/// Their types follow the references of libsecret 0.20 and GLib 2. Objects are pointers; only ``KeyringCall`` keeps
/// them.
struct LibSecret: @unchecked Sendable {  // constant pointers to functions
    typealias Object = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>
    typealias FailureSlot = UnsafeMutablePointer<Object?>

    struct GError {
        let domain: UInt32
        let code: Int32
        let message: Text?
    }

    struct GList {
        let data: Object?
        let next: Object?
        let previous: Object?
    }

    let newTable: @convention(c) (_ hash: Object, _ equal: Object) -> Object?
    let insert: @convention(c) (_ table: Object?, _ key: Object?, _ value: Object?) -> Int32
    let releaseTable: @convention(c) (Object?) -> Void
    let hashText: Object
    let equalText: Object
    let freeList: @convention(c) (Object?) -> Void
    let freeFailure: @convention(c) (Object?) -> Void
    let release: @convention(c) (Object?) -> Void
    let newCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object?) -> Void
    let bus: @convention(c) (_ type: Int32, Object?, FailureSlot?) -> Object?
    let setExitsOnClose: @convention(c) (_ connection: Object?, Int32) -> Void

    let newSchema: @convention(c) (_ name: Text?, _ flags: Int32, _ attributes: Object?) -> Object?
    let releaseSchema: @convention(c) (Object?) -> Void
    let service: @convention(c) (_ flags: Int32, Object?, FailureSlot?) -> Object?
    let disconnect: @convention(c) () -> Void
    let collection: @convention(c) (_ service: Object?, _ alias: Text?, Int32, Object?, FailureSlot?) -> Object?
    let isCollectionLocked: @convention(c) (Object?) -> Int32
    let search:
        @convention(c) (
            _ service: Object?, _ schema: Object?, _ attributes: Object?, _ flags: Int32, Object?, FailureSlot?
        ) -> Object?
    let isItemLocked: @convention(c) (Object?) -> Int32
    let modified: @convention(c) (Object?) -> UInt64
    let secret: @convention(c) (_ item: Object?) -> Object?
    let bytes: @convention(c) (_ secret: Object?, _ count: UnsafeMutablePointer<Int>?) -> UnsafePointer<UInt8>?
    let releaseSecret: @convention(c) (Object?) -> Void
    let store:
        @convention(c) (
            _ schema: Object?, _ attributes: Object?, _ collection: Text?, _ label: Text?, _ password: Text?, Object?,
            FailureSlot?
        ) -> Int32
    let delete: @convention(c) (_ item: Object?, Object?, FailureSlot?) -> Int32

    /// The library of this system, if it is installed and has all the functions.
    static let installed = SharedLibrary("libsecret-1.so.0").flatMap { try? LibSecret($0) }

    private init(_ library: SharedLibrary) throws {
        newTable = try library.function("g_hash_table_new")
        insert = try library.function("g_hash_table_insert")
        releaseTable = try library.function("g_hash_table_unref")
        hashText = try library.address(of: "g_str_hash")
        equalText = try library.address(of: "g_str_equal")
        freeList = try library.function("g_list_free")
        freeFailure = try library.function("g_error_free")
        release = try library.function("g_object_unref")
        newCancellable = try library.function("g_cancellable_new")
        cancel = try library.function("g_cancellable_cancel")
        bus = try library.function("g_bus_get_sync")
        setExitsOnClose = try library.function("g_dbus_connection_set_exit_on_close")
        newSchema = try library.function("secret_schema_newv")
        releaseSchema = try library.function("secret_schema_unref")
        service = try library.function("secret_service_get_sync")
        disconnect = try library.function("secret_service_disconnect")
        collection = try library.function("secret_collection_for_alias_sync")
        isCollectionLocked = try library.function("secret_collection_get_locked")
        search = try library.function("secret_service_search_sync")
        isItemLocked = try library.function("secret_item_get_locked")
        modified = try library.function("secret_item_get_modified")
        secret = try library.function("secret_item_get_secret")
        bytes = try library.function("secret_value_get")
        releaseSecret = try library.function("secret_value_unref")
        store = try library.function("secret_password_storev_sync")
        delete = try library.function("secret_item_delete_sync")
    }
}

/// A shared library that is loaded at run time, so that it is not needed to build.
struct SharedLibrary: @unchecked Sendable {  // the handle is never closed, and `dlsym` is thread-safe
    struct MissingSymbol: Error {}

    private let handle: UnsafeMutableRawPointer

    /// Opens a library, or returns `nil` if it is not installed.
    ///
    /// All its symbols are bound at once, so that a missing one does not fail a later call.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// The address of a symbol of the library, or of one that it depends on.
    func address(of symbol: String) throws(MissingSymbol) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, symbol) else { throw MissingSymbol() }
        return address
    }

    /// A C function of the library, or of one that it depends on.
    ///
    /// The type must be the one of the library's reference: it cannot be checked.
    func function<Function>(_ symbol: String) throws(MissingSymbol) -> Function {
        unsafeBitCast(try address(of: symbol), to: Function.self)
    }
}
#endif
