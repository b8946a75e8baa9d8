#if TurboJPEG && os(Linux)
import Foundation

extension Data {
    /// `withUnsafeBytes`, which forgets the type of what its body throws, with that type kept.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        try withUnsafeBytes { bytes in
            Result { () throws(ImagingError) in try body(bytes) }
        }.get()
    }
}
#endif
