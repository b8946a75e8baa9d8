import Testing

@testable import DevBackend

/// When a test is given up. A loaded machine takes its time, so only what has stopped for good reaches this.
enum Stuck {
    /// How long one request may go without a byte.
    static let after = Duration.seconds(15 * 60)
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that has stopped for good.
    static var untilStuck: Self { .timeLimit(.minutes(20)) }
}
