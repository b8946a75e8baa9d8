import Foundation
import NetworkCore
import NetworkRecording
import NetworkURLSession

/// What the samples name is the transport of another module, which is not built with this one.
private typealias AsyncHTTPClientTransport = URLSessionTransport

/// The sample of the module's article, as it is printed, with what a reader has around it.
private struct ArticleSamples {
    let url: URL

    func show(_ shown: Any?) {}

    func observing() {
        let recorder = HARRecorder(AsyncHTTPClientTransport())
        let client = NetworkClient(baseURL: url, transport: recorder, observers: [LoggingObserver()])
        show(client)
    }
}
