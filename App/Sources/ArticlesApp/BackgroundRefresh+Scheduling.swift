#if canImport(BackgroundTasks) && !os(macOS) && !os(watchOS)
import ArticlesUI
import BackgroundTasks
import Foundation

extension BackgroundRefresh {
    /// Asks the system for the next run.
    ///
    /// A simulator, and a device whose user has switched background refresh off, refuse it. The next launch then reads
    /// the articles itself.
    static func schedule() {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: interval / .seconds(1))
        try? BGTaskScheduler.shared.submit(request)
    }
}
#endif
