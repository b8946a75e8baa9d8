// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of BackgroundTasks that App/Sources/ArticlesApp calls. See the stub of Darwin for what such a stub shows.

public class BGTaskRequest { public var earliestBeginDate: Date? }
public final class BGAppRefreshTaskRequest: BGTaskRequest { public init(identifier: String) {} }

public final class BGTaskScheduler: Sendable {
    public static let shared = BGTaskScheduler()
    public func submit(_ request: BGTaskRequest) throws {}
}
