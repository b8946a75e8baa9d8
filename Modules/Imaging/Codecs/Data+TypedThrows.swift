#if TurboJPEG && os(Linux)
import Foundation

extension Data {
    /// Calls `withUnsafeBytes` and keeps the error type of its body.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        try withUnsafeBytes { bytes in
            Result { () throws(ImagingError) in try body(bytes) }
        }.get()
    }
}
#endif
