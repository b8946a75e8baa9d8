/// Receives progress, in order and on any thread. The transfer continues when it returns.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
