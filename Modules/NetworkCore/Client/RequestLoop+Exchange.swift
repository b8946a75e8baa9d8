import AuthInterface
import ConcurrencyPrimitives
import Foundation

// One attempt on the wire: exchange, redirects, body, status.
extension RequestLoop {
    /// A redirect's body is read to its end if it is no longer than this, so that the connection can be used again.
    private static let longestDrainedBody = 16 * 1_024

    func exchange(
        _ request: HTTPRequestHead,
        _ draft: Draft,
        for call: inout Call,
        authentication: AuthenticationInterceptor?
    ) async throws -> HTTPResponse {
        let policy = RedirectPolicy(cleartextExceptions: configuration.cleartextExceptions)
        var hop = RedirectPolicy.Hop(request: request, keepsBody: true, leavesOrigin: false)
        var visited: Set<RequestSummary.Exact> = []
        while true {
            call.request = RequestSummary(hop.request)
            guard visited.insert(RequestSummary.Exact(hop.request)).inserted else {
                throw NetworkError(.tooManyRedirects, reason: "the redirects go in a circle")
            }
            guard visited.count <= configuration.maximumRedirects + 1 else {
                throw NetworkError(.tooManyRedirects, reason: "more than \(configuration.maximumRedirects) redirects")
            }
            let response = try await perform(hop, draft, for: call)
            if call.carriesToken { authentication?.note(response.head) }
            let body = hop.keepsBody ? draft.body : .none
            let decision = policy.decision(
                for: response.head,
                to: hop.request,
                hasBody: !body.isEmpty,
                isReplayable: draft.body.isReplayable
            )
            switch decision {
            case .none:
                return try await finish(response, to: hop.request)
            case .refuse(let code, let reason):
                throw NetworkError(code, reason: "the redirect was not followed: \(reason)", response: response.head)
            case .follow(let next):
                try await drain(response, to: hop.request)
                let target = RequestSummary(next.request)
                notify(call.event(.redirected(status: response.head.status, to: target)))
                if next.leavesOrigin { call.carriesToken = false }
                hop = next
            }
        }
    }

    private func perform(
        _ hop: RedirectPolicy.Hop,
        _ draft: Draft,
        for call: Call
    ) async throws -> HTTPTransportResponse {
        notify(call.event(.sent))
        let request = HTTPTransportRequest(
            head: hop.request,
            body: hop.keepsBody ? draft.body : HTTPBody.none,
            idleTimeout: call.endpoint.timeout,
            isIdempotent: call.endpoint.isIdempotent,
            context: call.context,
            onEvent: draft.progress.map(Self.report)
        )
        let response: HTTPTransportResponse
        do {
            response = try await transport.perform(request)
        } catch {
            // A transport of any make may report cancellation as an error of its own.
            try Task.checkCancellation()
            throw error
        }
        notify(call.event(.answered(status: response.head.status)))
        try response.head.validate()
        return response
    }

    private static func report(_ progress: @escaping ProgressHandler) -> @Sendable (HTTPTransportEvent) -> Void {
        { event in
            if event.kind == .sent, let sent = event.progress { progress(sent) }
        }
    }

    private func finish(_ response: HTTPTransportResponse, to request: HTTPRequestHead) async throws -> HTTPResponse {
        let limit = configuration.maximumResponseSize
        if configuration.acceptedStatuses.contains(response.head.status) {
            let body = try await collect(response, to: request, limit: limit)
            return HTTPResponse(head: response.head, body: body)
        }
        // The status is the news. An error page too long to keep, or cut off, must not hide it.
        var body = Data()
        do {
            body = try await collect(response, to: request, limit: limit)
        } catch {
            try Task.checkCancellation()
        }
        return HTTPResponse(head: response.head, body: body)
    }

    private func collect(
        _ response: HTTPTransportResponse,
        to request: HTTPRequestHead,
        limit: Int
    ) async throws -> Data {
        func tooLarge() -> NetworkError {
            NetworkError(.responseTooLarge, reason: "the answer has more than \(limit) bytes", response: response.head)
        }
        if let length = response.head.bodyLength(to: request), length > limit { throw tooLarge() }
        do {
            return try await response.body.collect(upTo: limit)
        } catch let error as HTTPBodyError where error.code == .tooLong {
            throw tooLarge()
        } catch let error as HTTPTransportError {
            try Task.checkCancellation()
            throw NetworkError(error.code, reason: error.reason, response: response.head, cause: error)
        }
    }

    private func drain(_ response: HTTPTransportResponse, to request: HTTPRequestHead) async throws {
        guard let length = response.head.bodyLength(to: request), length <= Self.longestDrainedBody else { return }
        do {
            _ = try await collect(response, to: request, limit: Self.longestDrainedBody)
        } catch {
            try Task.checkCancellation()
        }
    }

    /// Reads an answer: the value, or the error it stands for.
    func read<Response>(_ response: HTTPResponse, as endpoint: Endpoint<Response>) throws -> Response {
        let format = endpoint.format ?? configuration.format
        let decoder = configuration.coding.makeDecoder()
        let retryAfter = response.head.retryAfter(now: clock.date)
        guard configuration.acceptedStatuses.contains(response.status) else {
            throw NetworkError(
                .unacceptableStatus,
                response: response.head,
                envelope: format.failure(from: response, using: decoder),
                retryAfter: retryAfter
            )
        }
        do {
            return try endpoint.reading.read(response, format, decoder)
        } catch let error as ErrorEnvelope {
            throw NetworkError(.unsuccessful, response: response.head, envelope: error, retryAfter: retryAfter)
        } catch let error as DecodingError {
            throw NetworkError(.decodingFailed, response: response.head, cause: DecodingFailure(error))
        } catch {
            throw NetworkError(.decodingFailed, response: response.head, cause: error)
        }
    }
}

extension RequestSummary {
    /// Where a redirect leads, unredacted: two addresses that differ in a secret only are not a circle. Never shown.
    struct Exact: Hashable {
        private let method: HTTPMethod
        private let url: String

        init(_ request: HTTPRequestHead) {
            method = request.method
            url = request.url.absoluteString
        }
    }
}
