// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch

// The three functions of <notify.h> that our code calls. See the stub of Darwin for what such a stub shows.

public typealias notify_handler_t = (_ token: Int32) -> Void

@discardableResult
public func notify_post(_ name: UnsafePointer<CChar>!) -> UInt32 { 0 }

@discardableResult
public func notify_register_dispatch(
    _ name: UnsafePointer<CChar>!,
    _ token: UnsafeMutablePointer<Int32>!,
    _ queue: DispatchQueue!,
    _ handler: notify_handler_t!
) -> UInt32 { 0 }

@discardableResult
public func notify_cancel(_ token: Int32) -> UInt32 { 0 }
