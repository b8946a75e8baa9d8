#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The process's limit of open files, sockets included.
enum OpenFileLimit {
    /// Raises the soft limit to the hard one. If the system refuses, the limit stays and fewer connections fit.
    static func raise() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }
        limits.rlim_cur = limits.rlim_max
        #if canImport(Darwin)
        // The system refuses more than this even where the hard limit says infinity.
        limits.rlim_cur = min(limits.rlim_cur, rlim_t(OPEN_MAX))
        #endif
        _ = setrlimit(resource, &limits)
    }
}
