import AuthInterface
import Foundation

/// The value of `errno` after a call that failed.
struct SystemCallError: Error {
    let number: Int32
}

extension TokenStoreError {
    /// The error for a system call that failed.
    ///
    /// - Parameters:
    ///   - error: The value of `errno`.
    ///   - attempt: The verb of "could not … PATH".
    ///   - path: The file or folder.
    /// - Returns: The error, with code `unavailable`.
    static func system(_ error: SystemCallError, _ attempt: String, _ path: String) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason: "could not \(attempt) \(path): \(String(cString: strerror(error.number)))",
            cause: POSIXErrorCode(rawValue: error.number).map { POSIXError($0) }
        )
    }
}

/// Makes a system call, and repeats it while a signal interrupts it (`EINTR`).
///
/// - Parameter call: The call. It returns a negative number and sets `errno` when it fails.
/// - Returns: What the call returned.
/// - Throws: The value of `errno`, but for `EINTR`.
@discardableResult
func uninterrupted<Number: SignedInteger>(_ call: () -> Number) throws(SystemCallError) -> Number {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw SystemCallError(number: number) }
    }
}

/// Makes system calls for a file or folder, and adds both to the error.
///
/// - Parameters:
///   - attempt: The verb of "could not … PATH".
///   - path: The file or folder.
///   - body: The system calls.
/// - Returns: What `body` returns.
/// - Throws: ``TokenStoreError`` with code `unavailable`.
@discardableResult
func attempt<Value: ~Copyable>(
    _ attempt: String,
    _ path: String,
    _ body: () throws(SystemCallError) -> Value
) throws(TokenStoreError) -> Value {
    do {
        return try body()
    } catch {
        throw .system(error, attempt, path)
    }
}
