// `URLRequest` is part of Foundation on Apple platforms and of FoundationNetworking elsewhere. Other files, and authors
// of a `RequestInterceptor`, do not import it.
#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#else
@_exported public import Foundation
#endif
