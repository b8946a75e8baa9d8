import AuthInterface
import AuthTesting
import GRPCCore
import GRPCInProcessTransport
import GRPCInterceptor
import Storage
import Synchronization
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct GRPCInterceptorTests {
    @Test @available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
    func `calls that the server refuses cause one refresh, and are made again`() async throws {
        let handler = ScriptedRefreshHandler()
        let replies = try await replies(of: Notes(accepting: "access-ada1-1"), to: 10, handler)
        #expect(replies == Array(repeating: "Milk for access-ada1-1", count: 10))
        #expect(handler.calls.count == 1)
    }

    @Test @available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
    func `a server that refuses every token gets two attempts, and no further refresh`() async throws {
        let handler = ScriptedRefreshHandler()
        let notes = Notes(accepting: "none")
        let error = await #expect(throws: RPCError.self) { try await replies(of: notes, to: 1, handler) }
        #expect(error?.code == .unauthenticated)
        #expect(notes.attempts.withLock { $0 } == 2)
        #expect(handler.calls.count == 1)
    }

    @Test @available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
    func `a refresh that is not possible now makes the call unavailable`() async throws {
        let handler = ScriptedRefreshHandler(.failure(TokenRefreshError.unavailable))
        let error = await #expect(throws: RPCError.self) {
            try await replies(of: Notes(accepting: "access-ada1-1"), to: 1, handler)
        }
        #expect(error?.code == .unavailable)
    }

    /// Makes calls at once.
    @available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
    private func replies(of notes: Notes, to count: Int, _ handler: ScriptedRefreshHandler) async throws -> [String] {
        let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        try await engine.signIn(.fixture())
        let transport = InProcessTransport(serviceConfig: BearerInterceptor.secondAttempt)
        return try await withGRPCServer(transport: transport.server, services: [notes]) { _ in
            try await withGRPCClient(transport: transport.client, interceptors: [BearerInterceptor(engine)]) { client in
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            try await client.unary(
                                request: ClientRequest(message: "Milk"), descriptor: Notes.list, serializer: Text(),
                                deserializer: Text(), options: .defaults
                            ) { try $0.message }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
        }
    }
}

/// A service that accepts one token, and names it.
@available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
private final class Notes: RegistrableRPCService {
    static let list = MethodDescriptor(fullyQualifiedService: "notes.Notes", method: "List")

    let token: String
    let attempts = Mutex(0)

    init(accepting token: String) { self.token = token }

    func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
        router.registerHandler(forMethod: Self.list, deserializer: Text(), serializer: Text()) { [self] request, _ in
            attempts.withLock { $0 += 1 }
            let field = request.metadata[stringValues: "authorization"].first { _ in true }
            guard field == "Bearer \(token)" else { throw RPCError(code: .unauthenticated, message: "expired") }
            let note = try await ServerRequest(stream: request).message
            return StreamingServerResponse(single: ServerResponse(message: "\(note) for \(token)"))
        }
    }
}

/// Texts as messages.
@available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *)
private struct Text: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
