// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The part of Combine that Modules/NetworkCombine calls. See the stub of Darwin for what such a stub shows.
// OpenCombine, with which the tests run, is the larger check of the same code.

public enum Subscribers {
    public struct Demand: Equatable, Comparable, Sendable {
        public static let none = Demand()
        public static func max(_ value: Int) -> Demand { Demand() }
        public static func < (first: Demand, second: Demand) -> Bool { false }
        public static func > (first: Demand, second: Int) -> Bool { false }
        public static func += (first: inout Demand, second: Demand) {}
        public static func -= (first: inout Demand, second: Int) {}
    }

    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }
}

extension Subscribers.Completion: Sendable where Failure: Sendable {}

public protocol Cancellable { func cancel() }
public protocol Subscription: Cancellable { func request(_ demand: Subscribers.Demand) }

/// Called on the queue on which the publisher delivers: any one.
public protocol Subscriber<Input, Failure> {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    public init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {}
    public func receive(subscription: any Subscription) {}
    public func receive(_ input: Input) -> Subscribers.Demand { .none }
    public func receive(completion: Subscribers.Completion<Failure>) {}
}

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

public struct AnyPublisher<Output, Failure: Error>: Publisher {
    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {}
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {}
}

public protocol Scheduler<SchedulerTimeType> {
    associatedtype SchedulerTimeType
    /// The action comes on the scheduler's queue.
    func schedule(_ action: @escaping () -> Void)
}
