import AuthInterface
import Foundation
import NetworkCore
import Observation
import TokenRefresh

// The samples of the article *SwiftUI*.

@MainActor
@Observable
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
final class NotesModel {
    private(set) var notes: [Note] = []
    private(set) var message: String?
    private let network: any NetworkService

    init(network: any NetworkService) { self.network = network }

    func load() async {
        do {
            notes = try await network.send(.notes)
            message = nil
        } catch is CancellationError {
            return  // the view has gone
        } catch {
            message = error.localizedDescription
        }
    }
}

@MainActor
@Observable
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
final class SessionModel {
    private(set) var state = SessionState.unknown
    private let session: any AuthSession

    init(session: any AuthSession) { self.session = session }

    func follow() async {
        _ = try? await session.restore()
        for await state in session.states { self.state = state }
    }
}

#if canImport(SwiftUI)
import SwiftUI

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct RootView: View {
    @State var session: SessionModel
    @State var notes: NotesModel

    var body: some View {
        Group {
            switch session.state {
            case .unknown: ProgressView()
            case .signedIn: List(notes.notes) { Text($0.text) }.task { await notes.load() }
            case .signedOut(let reason): Text(reason.isExpired ? "Please sign in again" : "Please sign in")
            }
        }
        .task { await session.follow() }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct Followed<Content: View>: View {
    let session: TokenRefreshCoordinator
    let content: Content
    @Environment(\.scenePhase) private var scenePhase

    var body: some View {
        content
            .onChange(of: scenePhase) { _, phase in
                if phase == .active { Task { try await session.restore() } }
            }
    }
}
#endif
