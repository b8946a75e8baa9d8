#if os(Linux)
import Foundation

/// A shared library that is looked for when the program runs, so that it need not be there when it is built.
struct SharedLibrary: @unchecked Sendable {  // the handle is never closed, and any thread may look symbols up in it
    struct MissingSymbol: Error {}

    private let handle: UnsafeMutableRawPointer

    /// Opens a library, or returns `nil` if it is not installed.
    ///
    /// It is bound at once and as a whole: what it lacks is found out here, and not in the middle of a call.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// The address of a symbol of the library, or of one that it depends on.
    func address(of symbol: String) throws(MissingSymbol) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, symbol) else { throw MissingSymbol() }
        return address
    }

    /// A C function of the library, or of one that it depends on, as the type that the caller expects.
    ///
    /// No check is possible: the type must be the one of the library's reference.
    func function<Function>(_ symbol: String) throws(MissingSymbol) -> Function {
        unsafeBitCast(try address(of: symbol), to: Function.self)
    }
}
#endif
