// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
import Foundation

// The three functions of <notify.h> that our code calls. See the stub of Darwin for what such a stub shows.

/// Comes on the queue that is given to ``notify_register_dispatch(_:_:_:_:)``.
public typealias notify_handler_t = (_ token: Int32) -> Void

private struct Registration {
    let name: String
    let queue: DispatchQueue
    let handler: notify_handler_t
}

private let lock = NSLock()
nonisolated(unsafe) private var registrations: [Int32: Registration] = [:]
nonisolated(unsafe) private var lastToken: Int32 = 0

@discardableResult
public func notify_post(_ name: UnsafePointer<CChar>!) -> UInt32 {
    let name = String(cString: name)
    for (token, registration) in lock.withLock({ registrations }) where registration.name == name {
        nonisolated(unsafe) let handler = registration.handler
        registration.queue.async { handler(token) }
    }
    return 0
}

@discardableResult
public func notify_register_dispatch(
    _ name: UnsafePointer<CChar>!,
    _ token: UnsafeMutablePointer<Int32>!,
    _ queue: DispatchQueue!,
    _ handler: notify_handler_t!
) -> UInt32 {
    lock.withLock {
        lastToken += 1
        token.pointee = lastToken
        registrations[lastToken] = Registration(name: String(cString: name), queue: queue, handler: handler)
    }
    return 0
}

@discardableResult
public func notify_cancel(_ token: Int32) -> UInt32 {
    lock.withLock { registrations[token] = nil }
    return 0
}
