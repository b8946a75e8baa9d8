#if canImport(Combine)
@preconcurrency public import Combine
#elseif OpenCombine
@preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
public import Dispatch

/// Where a publisher delivers its values and its completion.
///
/// The default of every publisher of this module is ``main``. A closure that is written in main-actor code is isolated
/// to the main actor, whatever the publisher does; on another thread it traps. With ``main`` a plain `sink` works
/// there.
///
/// Values are delivered one at a time, in order, also on a concurrent queue.
public struct Delivery: Sendable {
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// On the main queue, where main-actor code runs.
    public static let main = Delivery.queue(.main)

    /// On a dispatch queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> Delivery {
        Delivery { queue.async(execute: $0) }
    }

    /// On a scheduler of the publisher library, for example a `RunLoop`, an `OperationQueue` or a test's scheduler. It
    /// is used from any thread, as `receive(on:)` does.
    public static func scheduler(_ scheduler: some Scheduler) -> Delivery {
        let anywhere = UsedFromAnyThread(scheduler: scheduler)
        return Delivery { work in anywhere.scheduler.schedule { work() } }
    }

    /// On the thread where the value arises, which is any thread. Only for closures that may run there.
    public static let anyThread = Delivery { $0() }

    private struct UsedFromAnyThread: @unchecked Sendable {  // schedulers are made for use from several threads
        let scheduler: any Scheduler
    }
}
#endif
