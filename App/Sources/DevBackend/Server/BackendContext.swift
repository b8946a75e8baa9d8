import Hummingbird
import Logging

/// The context that Hummingbird's router passes to a handler.
struct BackendContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let exchange: Exchange
    }

    var coreContext: CoreRequestContextStorage
    let exchange: Exchange

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        exchange = source.exchange
    }
}
