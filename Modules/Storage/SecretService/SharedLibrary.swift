#if os(Linux)
import Foundation

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
