// `URLRequest` lives in Foundation on Apple platforms and in FoundationNetworking elsewhere. This is the one place
// that says so: the rest of the module, and whoever writes a `RequestInterceptor`, need not.
#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#else
@_exported public import Foundation
#endif
