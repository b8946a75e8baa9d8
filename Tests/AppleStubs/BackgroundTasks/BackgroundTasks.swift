// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of BackgroundTasks that App/Sources/ArticlesApp calls, so that it can be typechecked without an Apple SDK.
// It does nothing and is part of no product. It shows that our code and this stub agree, not that the stub and the
// framework do.

public class BGTaskRequest {
    public var earliestBeginDate: Date?
}

public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

public final class BGTaskScheduler: Sendable {
    public static let shared = BGTaskScheduler()
    public func submit(_ request: BGTaskRequest) throws {}
}
