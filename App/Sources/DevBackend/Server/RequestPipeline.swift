import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
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
    let bodyMemory: ByteBudget
    let credentialFields: CredentialFields
    let dialect: DevBackend.Dialect
    /// The scheme and authority in URLs of this server; nil for those of the connection.
    let publicOrigin: String?
    let logger: Logger
    let now: @Sendable () -> Date

    /// Serves one request on a connection.
    ///
    /// - Throws: What writing to a closed connection throws.
    // Concurrent, as the writer's own methods are: the writer cannot cross an isolation boundary.
    @concurrent
    func serve(_ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
        let route = routes.route(request.method, request.uri.path)
        let exchange = start(request, route: route, origin: origin(of: channel))
        let outcome = await outcome(of: request, exchange, isExempt: route?.path.hasPrefix("/dev/") == true, writer)
        // Before the response is sent: a client that has the response finds the memory free.
        exchange.body.release()
        let status = outcome.status
        ledger.completed(exchange.sequence, method: exchange.method, route: route?.path ?? "*", status: status)
        logger.debug(
            "request",
            metadata: [
                "method": "\(exchange.method)", "route": "\(route?.path ?? "*")",
                "status": "\(status.map(String.init) ?? "closed")", "id": "\(exchange.requestID)",
            ])
        switch outcome {
        case .response(let response):
            let finished = finish(response, exchange, method: request.method)
            try await writer.write(response: finished.head, body: finished.body)
            if finished.headers[.connection] == "close" { try await channel.close() }
        case .gateway(let response):
            try await writer.write(response: response.head, body: response.body)
        case .cut(let response, let count):
            let finished = finish(response, exchange, method: request.method)
            try await writer.write(response: finished.head, body: finished.body.cut(after: count, closing: channel))
        case .close:
            try await channel.close()
        }
    }

    private func start(_ request: Request, route: Route?, origin: String) -> Exchange {
        let method = request.method.rawValue
        let path = request.uri.path
        let requestID = RequestIdentifier.choose(offered: request.headers[.xRequestID])
        let sequence = ledger.arrived(
            method: method, path: path, requestID: requestID,
            credentialFields: credentialFields.present(in: request.headers), isRefresh: route?.isRefresh == true)
        return Exchange(
            sequence: sequence, requestID: requestID, method: method, path: path,
            origin: origin, arrival: .now,
            body: ByteBudget.Reservation(bodyMemory), dialect: dialect, now: now)
    }

    /// The public origin, or the address that the connection was made to. Never the `Host` field: a client could put
    /// the address of another server into URLs that other users get.
    private func origin(of channel: any Channel) -> String {
        if let publicOrigin { return publicOrigin }
        let address = channel.localAddress
        let host = address?.ipAddress ?? "127.0.0.1"
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(address?.port ?? 80)"
    }

    @concurrent
    private func outcome(
        of request: Request, _ exchange: Exchange, isExempt: Bool, _ writer: borrowing ResponseWriter
    ) async -> Outcome {
        let path = RouteTable.relativePath(exchange.path)
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
            outcome = .response(await handle(request, exchange))
        }
        if !isExempt {
            await faults.passGates(.beforeResponse, method: exchange.method, path: path)
            if decision.responseDelay > .zero { try? await Task.sleep(for: decision.responseDelay) }
        }
        if decision.losesResponse { return .close }
        if let count = decision.cut, case .response(let response) = outcome { return .cut(response, count) }
        return outcome
    }

    private func handle(_ request: Request, _ exchange: Exchange) async -> Response {
        do {
            _ = try request.host()
            let context = BackendContext(source: BackendContext.Source(logger: logger, exchange: exchange))
            return try await routes.respond(to: request, context: context)
        } catch let error as APIError {
            return failure(error, exchange)
        } catch {
            // The type shows where to look; the value could hold a token.
            logger.error("handler failed", metadata: ["type": "\(type(of: error))", "id": "\(exchange.requestID)"])
            return failure(.internalError, exchange)
        }
    }

    /// Replaces the handler by a fault.
    private func interrupt(_ exchange: Exchange, by fault: FaultAction) -> Outcome {
        switch fault {
        case .respond(let status, let retryAfter, let code):
            var error = APIError(
                HTTPResponse.Status(code: status), code ?? "FAULT_INJECTED", "The fault plan asks for this response.")
            error.oauth2Code = code
            if let retryAfter { error = error.with(.retryAfter, String(retryAfter.secondsRoundedUp)) }
            return .response(failure(error, exchange))
        case .refuseToken:
            return .response(failure(Authenticator.Refusal.invalid.error(), exchange))
        case .redirect(let url, let status):
            return .response(
                Response(status: HTTPResponse.Status(code: status), headers: [.location: url.absoluteString]))
        case .gateway(let response):
            return .gateway(Response(response))
        case .closeBeforeHandler, .closeAfterHandler, .cutResponse, .delay, .jitter, .delayResponse, .jitterResponse:
            return .close
        }
    }

    private func failure(_ error: APIError, _ exchange: Exchange) -> Response {
        do {
            return try exchange.failure(error)
        } catch {
            return Response(status: .internalServerError)
        }
    }

    private func finish(_ response: Response, _ exchange: Exchange, method: HTTPRequest.Method) -> Response {
        var response = method == .head ? response.createHeadResponse() : response
        response.headers[.date] = exchange.now().httpDate
        response.headers[.xRequestID] = exchange.requestID
        // RFC 9110 §8.6: no Content-Length with a 204.
        if response.status == .noContent { response.headers[.contentLength] = nil }
        return response
    }
}

extension Response {
    fileprivate init(_ response: GatewayResponse) {
        var headers = HTTPFields()
        headers[.contentType] = response.contentType
        self.init(
            status: HTTPResponse.Status(code: response.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: response.body)))
    }
}

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
