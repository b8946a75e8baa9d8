import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The path of a request: journal, gates, faults, handler, envelope, response.
struct RequestPipeline: Sendable {
    private enum Outcome {
        case response(Response)
        /// The response of a gateway, sent unchanged.
        case gateway(Response)
        /// The connection is closed without a response.
        case close
        /// The connection is closed after these bytes of the body.
        case cut(Response, Int)

        var status: Int? {
            switch self {
            case .response(let response), .gateway(let response), .cut(let response, _): response.status.code
            case .close: nil
            }
        }
    }

    let routes: RouteTable
    let faults: FaultInjector
    let ledger: RequestLedger
    let credentialFields: Set<String>
    let now: @Sendable () -> Date

    /// Serves one request on a connection, and throws what writing to a closed one throws.
    // Concurrent, as the writer's own methods are: the writer cannot cross an isolation boundary.
    @concurrent
    func serve(_ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
        let route = routes.route(request.method, request.uri.path)
        let exchange = start(request, route: route, on: channel)
        let outcome = await outcome(of: request, exchange, route, writer)
        ledger.completed(exchange.sequence, method: exchange.method, route: route?.path ?? "*", status: outcome.status)
        switch outcome {
        case .response(let response):
            let finished = finish(response, exchange)
            try await writer.write(response: finished.head, body: finished.body)
        case .gateway(let response):
            try await writer.write(response: response.head, body: response.body)
        case .cut(let response, let count):
            let finished = finish(response, exchange)
            try await writer.write(response: finished.head, body: finished.body.cut(after: count, closing: channel))
        case .close:
            try await channel.close()
        }
    }

    private func start(_ request: Request, route: Route?, on channel: any Channel) -> Exchange {
        let method = request.method.rawValue
        let path = request.uri.path
        // The identifier that the client sent if it is safe in headers and logs, otherwise a new one.
        let offered = request.headers[.xRequestID].flatMap { $0.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) }
        let requestID = offered.map { String($0.output) } ?? UUID().uuidString.lowercased()
        let sequence = ledger.arrived(
            method: method, path: path, requestID: requestID,
            credentialFields: credentialFields.intersection(request.headers.map(\.name.canonicalName)).sorted(),
            isRefresh: route?.isRefresh == true)
        // The address that the connection was made to, and never the `Host` field: a client could put the address of
        // another server into URLs that other users get.
        return Exchange(
            sequence: sequence, requestID: requestID, method: method, path: path,
            parameter: route?.parameter(in: path) ?? "",
            origin: "http://\(HTTPServer.host):\(channel.localAddress?.port ?? 80)", now: now)
    }

    @concurrent
    private func outcome(
        of request: Request, _ exchange: Exchange, _ route: Route?, _ writer: borrowing ResponseWriter
    ) async -> Outcome {
        let path = RouteTable.relativePath(exchange.path)
        let isExempt = route?.path.hasPrefix("/dev/") == true
        var decision = FaultInjector.Decision()
        if !isExempt {
            await faults.passGates(.beforeHandler, method: exchange.method, path: path)
            decision = faults.decision(method: exchange.method, path: path)
            // Cancelled only when the server stops; the request then continues.
            if decision.delay > .zero { try? await Task.sleep(for: decision.delay) }
        }
        let outcome: Outcome
        if let interruption = decision.interruption {
            outcome = interrupt(exchange, by: interruption)
        } else {
            if request.headers[.expect]?.lowercased() == "100-continue" {
                // A closed connection shows when the body is read.
                try? await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            outcome = .response(await handle(request, exchange, route))
        }
        if !isExempt {
            await faults.passGates(.beforeResponse, method: exchange.method, path: path)
            if decision.responseDelay > .zero { try? await Task.sleep(for: decision.responseDelay) }
        }
        if decision.losesResponse { return .close }
        if let count = decision.cut, case .response(let response) = outcome { return .cut(response, count) }
        return outcome
    }

    private func handle(_ request: Request, _ exchange: Exchange, _ route: Route?) async -> Response {
        do {
            guard let route else { throw routes.rejection(exchange.path) }
            return try await route.handler(request, exchange)
        } catch let error as APIError {
            return failure(error, exchange)
        } catch {
            return failure(.internalError, exchange)
        }
    }

    private func interrupt(_ exchange: Exchange, by fault: FaultAction) -> Outcome {
        switch fault {
        case .respond(let status, let code):
            var error = APIError(
                HTTPResponse.Status(code: status), code ?? "FAULT_INJECTED", "The fault plan asks for this response.")
            error.oauth2Code = code
            return .response(failure(error, exchange))
        case .refuseToken:
            return .response(failure(APIError.tokenInvalid, exchange))
        case .redirect(let url, let status):
            return .response(
                Response(status: HTTPResponse.Status(code: status), headers: [.location: url.absoluteString]))
        case .gateway(let response):
            var headers = HTTPFields()
            headers[.contentType] = response.contentType
            let body = ResponseBody(byteBuffer: ByteBuffer(string: response.body))
            return .gateway(Response(status: .init(code: response.status), headers: headers, body: body))
        case .closeBeforeHandler, .closeAfterHandler, .cutResponse, .jitter, .delayResponse:
            return .close
        }
    }

    private func failure(_ error: APIError, _ exchange: Exchange) -> Response {
        (try? exchange.failure(error)) ?? Response(status: .internalServerError)
    }

    private func finish(_ response: Response, _ exchange: Exchange) -> Response {
        var response = response
        response.headers[.date] = exchange.now().httpDate
        response.headers[.xRequestID] = exchange.requestID
        // RFC 9110 §8.6: no Content-Length with a 204.
        if response.status == .noContent { response.headers[.contentLength] = nil }
        return response
    }
}

extension ResponseBody {
    /// The body up to a number of bytes, and then the end of the connection.
    func cut(after count: Int, closing channel: any Channel) -> ResponseBody {
        let body = self
        return ResponseBody(contentLength: contentLength) { writer in
            try await body.write(CuttingWriter(parent: writer, remaining: count, channel: channel))
            try await channel.close()
            throw CuttingWriter.IsCut()
        }
    }
}

private struct CuttingWriter: ResponseBodyWriter {
    struct IsCut: Error {}

    var parent: any ResponseBodyWriter
    var remaining: Int
    let channel: any Channel

    @concurrent
    mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        if let piece = buffer.readSlice(length: min(remaining, buffer.readableBytes)), piece.readableBytes > 0 {
            remaining -= piece.readableBytes
            try await parent.write(piece)
        }
        guard remaining == 0 else { return }
        try await channel.close()
        throw IsCut()
    }

    // The body is not whole, so its end is not written.
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
