import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// A request's whole way: journal, gates, faults, handler, envelope, answer.
struct RequestPipeline: Sendable {
    private enum Outcome {
        case answer(Response)
        /// A response that is not this server's own, sent as it is.
        case gateway(Response)
        /// The connection is closed without an answer.
        case silence

        var status: Int? {
            switch self {
            case .answer(let response), .gateway(let response): response.status.code
            case .silence: nil
            }
        }
    }

    let routes: RouteTable
    let faults: FaultInjector
    let ledger: RequestLedger
    let bodyMemory: BodyMemory
    let credentialFields: CredentialFields
    let logger: Logger
    let now: @Sendable () -> Date

    /// Serves one request on a connection.
    ///
    /// - Throws: what writing to a connection that is gone throws.
    // Concurrent, as the writer's own methods are: it cannot be handed across an isolation boundary.
    @concurrent
    func serve(_ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
        let route = routes.route(request.method, request.uri.path)
        let exchange = begin(request, route: route)
        let outcome = await outcome(of: request, exchange, isExempt: route?.path.hasPrefix("/dev/") == true, writer)
        // Before the response is sent: a client that has it finds the memory free.
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
        case .answer(let response):
            let finished = finish(response, exchange, method: request.method)
            try await writer.write(response: finished.head, body: finished.body)
            if finished.headers[.connection] == "close" { try await channel.close() }
        case .gateway(let response):
            try await writer.write(response: response.head, body: response.body)
        case .silence:
            try await channel.close()
        }
    }

    private func begin(_ request: Request, route: Route?) -> Exchange {
        let method = request.method.rawValue
        let path = request.uri.path
        let requestID = RequestIdentifier.choose(offered: request.headers[.xRequestID])
        let sequence = ledger.arrived(
            method: method, path: path, requestID: requestID,
            credentialFields: credentialFields.present(in: request.headers), isRefresh: route?.isRefresh == true)
        return Exchange(
            sequence: sequence, requestID: requestID, method: method, path: path,
            origin: "http://\(request.head.authority ?? "127.0.0.1")", arrival: .now,
            body: BodyReservation(bodyMemory), now: now)
    }

    @concurrent
    private func outcome(
        of request: Request, _ exchange: Exchange, isExempt: Bool, _ writer: borrowing ResponseWriter
    ) async -> Outcome {
        let path = RouteTable.contractPath(exchange.path)
        var decision = FaultInjector.Decision()
        if !isExempt {
            await faults.passGates(.beforeHandler, method: exchange.method, path: path)
            decision = faults.decision(method: exchange.method, path: path)
            // Cut short only when the server stops; then the request may as well go on.
            if decision.delay > .zero { try? await Task.sleep(for: decision.delay) }
        }
        var outcome = Outcome.silence
        if let interruption = decision.interruption {
            outcome = self.outcome(of: interruption, exchange)
        } else {
            if request.headers[.expect]?.lowercased() == "100-continue" {
                // A client that is gone shows when the body is read.
                try? await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            outcome = .answer(await handle(request, exchange))
        }
        if !isExempt {
            await faults.passGates(.beforeResponse, method: exchange.method, path: path)
            if decision.responseDelay > .zero { try? await Task.sleep(for: decision.responseDelay) }
        }
        return decision.losesResponse ? .silence : outcome
    }

    private func handle(_ request: Request, _ exchange: Exchange) async -> Response {
        do {
            let context = BackendContext(source: BackendContext.Source(logger: logger, exchange: exchange))
            return try await routes.respond(to: request, context: context)
        } catch let error as APIError {
            return refusal(error, exchange)
        } catch {
            // The type says where to look; the value could hold a token.
            logger.error("handler failed", metadata: ["type": "\(type(of: error))", "id": "\(exchange.requestID)"])
            return refusal(.internalError, exchange)
        }
    }

    /// What a fault does in the handler's place.
    private func outcome(of fault: FaultAction, _ exchange: Exchange) -> Outcome {
        switch fault {
        case .respond(let status, let retryAfter, let code):
            var error = APIError(
                HTTPResponse.Status(code: status), code ?? "FAULT_INJECTED", "This answer was asked for.")
            error.oauth2Word = code
            if let retryAfter { error = error.with(.retryAfter, String(retryAfter.secondsRoundedUp)) }
            return .answer(refusal(error, exchange))
        case .refuseToken:
            return .answer(refusal(AccessRefusal.invalid.error(), exchange))
        case .redirect(let url, let status):
            return .answer(
                Response(status: HTTPResponse.Status(code: status), headers: [.location: url.absoluteString]))
        case .gateway(let response):
            return .gateway(Response(response))
        case .closeBeforeHandler, .closeAfterHandler, .delay, .jitter, .delayResponse, .jitterResponse:
            return .silence
        }
    }

    private func refusal(_ error: APIError, _ exchange: Exchange) -> Response {
        do {
            return try exchange.refusal(error)
        } catch {
            return Response(status: .internalServerError)
        }
    }

    private func finish(_ response: Response, _ exchange: Exchange, method: HTTPRequest.Method) -> Response {
        var response = method == .head ? response.createHeadResponse() : response
        response.headers[.date] = HTTPDate.string(from: exchange.now())
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
