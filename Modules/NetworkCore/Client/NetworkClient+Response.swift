import ConcurrencyPrimitives
import Foundation

// What becomes of a response.
extension NetworkClient {
    func collect(_ response: HTTPTransportResponse, of call: CallState, limit: Int) async throws -> Data {
        let head = response.head
        do {
            if let length = head.bodyLength(to: call.head), length > limit { throw HTTPBodyError.tooLong(limit) }
            // The transport keeps to the client's deadline itself.
            let isLimited = call.endsWithBody && call.settings.deadline == nil && call.minimumRate == nil
            if transport.endsInTime, call.deadline == nil || isLimited {
                return try await response.body.collect(upTo: limit)
            }
            // The transport may not look at the time limit.
            return try await limited(call, to: .responseBody) { try await response.body.collect(upTo: limit) }
        } catch let error as HTTPBodyError where error.code == .tooLong {
            let reason = "the response has more than \(limit) bytes"
            throw NetworkError(.responseTooLarge, reason: reason, response: head)
        } catch let error as HTTPTransportError {
            try Task.checkCancellation()
            throw NetworkError(error, reading: head)
        } catch var error as NetworkError {
            error.response = head
            throw error
        }
    }

    /// The error that a response with another status than the accepted ones is.
    ///
    /// - Throws: `CancellationError`.
    func refusal(_ response: HTTPTransportResponse, of call: CallState) async throws -> NetworkError {
        // An error page that is too long to keep, or breaks off, must not hide the status.
        var body: Data?
        do {
            body = try await collect(response, of: call, limit: configuration.maximumResponseSize)
        } catch {
            try Task.checkCancellation()
        }
        let format = call.settings.format
        let whole = HTTPResponse(head: response.head, body: body ?? Data())
        var error = NetworkError(
            .unacceptableStatus, response: response.head, serverError: format.failure(from: whole),
            retryAfter: response.head.retryAfter(now: clock.date)
        )
        .with(whole, readBy: format)
        error.lacksBody = body == nil
        return error
    }

    /// Reads an accepted response: the value, or the error it stands for.
    func read<Response>(
        _ response: HTTPResponse, by reading: ResponseReading<Response>, of call: CallState
    ) throws -> Response {
        let format = call.settings.format
        let head = response.head
        do {
            return try reading.read(response, format, call.settings.headers["Accept"])
        } catch let error as NetworkError {
            throw error
        } catch let error as ServerError {
            let retryAfter = head.retryAfter(now: clock.date)
            throw NetworkError(.unsuccessful, response: head, serverError: error, retryAfter: retryAfter)
                .with(response, readBy: format)
        } catch let error as DecodingError {
            let isEmpty = response.body.isEmpty
            let reason = isEmpty ? "the response has no body, and the endpoint expects a value" : nil
            throw NetworkError(.decodingFailed, reason: reason, response: head, cause: DecodingFailure(error))
                .with(response, readBy: format)
        } catch {
            throw NetworkError(.decodingFailed, response: head, cause: error).with(response, readBy: format)
        }
    }
}
