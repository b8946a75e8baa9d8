import Imaging
import Testing

extension PhotoFitter {
    /// A fitter whose policy differs from the standard one.
    init(_ codec: any ImageCodec, _ change: (inout FittingPolicy) -> Void) {
        var policy = FittingPolicy()
        change(&policy)
        self.init(codec: codec, policy: policy)
    }
}

/// The error that a call throws. Another error, or none, is an issue of the test.
func imagingError<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, of call: () throws -> Value
) -> ImagingError? {
    #expect(throws: ImagingError.self, sourceLocation: sourceLocation) { _ = try call() }
}
