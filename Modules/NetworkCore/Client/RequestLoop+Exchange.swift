import AuthInterface
import ConcurrencyPrimitives
import Foundation

// One attempt: exchange, redirects, body, status.
extension RequestLoop {
    /// The body of a redirect up to this size is read to its end, so that the connection can be used again.
    private static let maximumDrainedSize = 16 * 1_024

    func exchange(
        _ request: URLRequest,
        _ prepared: PreparedRequest,
        for call: inout CallState,
        authentication: AuthenticationInterceptor?
    ) async throws -> HTTPResponse {
        let policy = RedirectPolicy(cleartextExceptions: configuration.cleartextExceptions)
        var outgoing = RedirectPolicy.OutgoingRequest(request: request, keepsBody: true, leavesOrigin: false)
        var visited: Set<RequestIdentity> = []
        while true {
            call.request = RequestSummary(outgoing.request)
            guard visited.insert(RequestIdentity(outgoing.request)).inserted else {
                throw NetworkError(.tooManyRedirects, reason: "the redirects form a loop")
            }
            guard visited.count <= configuration.maximumRedirects + 1 else {
                throw NetworkError(.tooManyRedirects, reason: "more than \(configuration.maximumRedirects) redirects")
            }
            let response = try await perform(outgoing, prepared, for: call)
            if call.carriesToken { authentication?.note(response.head) }
            let body = outgoing.keepsBody ? prepared.body.content : .none
            let decision = policy.decision(
                for: response.head,
                to: outgoing.request,
                hasBody: !body.isEmpty,
                isReplayable: prepared.body.isReplayable
            )
            switch decision {
            case .none:
                return try await finish(response, to: outgoing.request)
            case .refuse(let code, let reason):
                throw NetworkError(code, reason: "the redirect was not followed: \(reason)", response: response.head)
            case .follow(let next):
                try await drain(response, to: outgoing.request)
                let target = RequestSummary(next.request)
                notify(call.event(.redirected(status: response.head.status, to: target)))
                if next.leavesOrigin { call.carriesToken = false }
                outgoing = next
            }
        }
    }

    private func perform(
        _ outgoing: RedirectPolicy.OutgoingRequest,
        _ prepared: PreparedRequest,
        for call: CallState
    ) async throws -> HTTPTransportResponse {
        notify(call.event(.sent))
        let request = HTTPTransportRequest(
            head: outgoing.request,
            body: outgoing.keepsBody ? prepared.body.content : .none,
            timeout: call.timeout,
            isIdempotent: call.isIdempotent,
            progress: prepared.progress
        )
        let response: HTTPTransportResponse
        do {
            response = try await transport.perform(request)
        } catch {
            // A transport may report cancellation as an error of its own.
            try Task.checkCancellation()
            throw error
        }
        notify(call.event(.responded(status: response.head.status)))
        return response
    }

    private func finish(_ response: HTTPTransportResponse, to request: URLRequest) async throws -> HTTPResponse {
        let limit = configuration.maximumResponseSize
        if configuration.acceptedStatuses.contains(response.head.status) {
            let body = try await collect(response, to: request, limit: limit)
            return HTTPResponse(head: response.head, body: body)
        }
        // The status must be reported, even if the error page is too long to keep, or incomplete.
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
        to request: URLRequest,
        limit: Int
    ) async throws -> Data {
        func tooLarge() -> NetworkError {
            let reason = "the response has more than \(limit) bytes"
            return NetworkError(.responseTooLarge, reason: reason, response: response.head)
        }
        if let length = response.head.bodyLength(to: request), length > limit { throw tooLarge() }
        var body = Data()
        do {
            for try await piece in response.body {
                guard body.count + piece.count <= limit else { throw tooLarge() }
                body.append(piece)
            }
        } catch let error as HTTPTransportError {
            try Task.checkCancellation()
            throw NetworkError(error.code, reason: error.reason, response: response.head, cause: error)
        }
        return body
    }

    private func drain(_ response: HTTPTransportResponse, to request: URLRequest) async throws {
        guard let length = response.head.bodyLength(to: request), length <= Self.maximumDrainedSize else { return }
        do {
            _ = try await collect(response, to: request, limit: Self.maximumDrainedSize)
        } catch {
            try Task.checkCancellation()
        }
    }

    /// Reads the value of a response.
    ///
    /// - Throws: ``NetworkError``, if the status is not accepted or the body is not the value.
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

/// The method and unredacted URL of a request, to detect loops of redirects: two URLs that differ in a secret only are
/// not a loop. It is never shown.
private struct RequestIdentity: Hashable {
    private let method: String?
    private let url: String?

    init(_ request: URLRequest) {
        method = request.httpMethod
        url = request.url?.absoluteString
    }
}
