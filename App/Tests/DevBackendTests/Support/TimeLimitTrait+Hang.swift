import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. It is long enough for a machine under load.
    static var hangLimit: Self { .timeLimit(.minutes(20)) }
}
