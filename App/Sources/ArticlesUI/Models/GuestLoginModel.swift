import DataAPI
package import Foundation
import Observation

/// Registers a guest with a name and a photo.
@Observable
@MainActor
package final class GuestLoginModel {
    package enum Photo: Sendable, Hashable {
        case none
        /// The photo is read and fitted.
        case preparing
        /// The photo as it is uploaded.
        case ready(Data)
        case failed(ScreenError)
    }

    package var name = ""

    package private(set) var photo = Photo.none
    package private(set) var phase = LoadPhase.idle

    /// The uploaded part, from 0 to 1. `nil`: no upload is under way. It never decreases within a login.
    package private(set) var uploaded: Double?

    /// The photo before the one that is prepared.
    @ObservationIgnored private var settled = Photo.none
    @ObservationIgnored private let picking = ModelCall()
    @ObservationIgnored private let login: ModelCall
    private let services: ScreenServices
    private let finish: (User?) -> Void

    init(services: ScreenServices, login: ModelCall, finish: @escaping (User?) -> Void) {
        self.services = services
        self.login = login
        self.finish = finish
    }

    package var canSubmit: Bool {
        if case .ready = photo { !trimmedName.isEmpty && phase != .loading } else { false }
    }

    private var trimmedName: String { name.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Reads and fits a photo. A photo that is picked later replaces it, whichever is ready first.
    ///
    /// - Parameter read: Reads the picked file; `nil` means that the user picked none, and the earlier photo stays.
    package func pick(_ read: @escaping @Sendable () async throws -> Data?) async {
        if photo != .preparing { settled = photo }
        await picking.restart { [self] ticket in
            photo = .preparing
            do {
                let picked = try await read()
                guard ticket.isCurrent else { return }
                guard let picked else { return photo = settled }
                let prepared = try await services.photos.prepare(picked)
                guard ticket.isCurrent else { return }
                photo = .ready(prepared)
            } catch {
                guard ticket.isCurrent else { return }
                photo = error.isCancellation ? settled : .failed(ScreenError(error))
            }
        }
    }

    /// Registers the guest, with the photo that is being prepared, if there is one. Name and photo stay after a
    /// failure.
    package func submit() async {
        await picking.wait()
        let name = trimmedName
        if let error = ScreenError(tooLong: [.name: name]) { return report(error) }
        guard case .ready(let photo) = photo, !name.isEmpty else { return report(ScreenError("incompleteGuest")) }
        await login.join { [self] ticket in
            phase = .loading
            uploaded = 0
            do {
                let user = try await services.logins.registerGuest(name: name, photo: photo) { part in
                    Task { @MainActor in self.show(part, of: ticket) }
                }
                guard ticket.isCurrent else { return }
                end(.loaded)
                finish(user)
            } catch {
                guard ticket.isCurrent else { return }
                end(error.isCancellation ? .idle : .failed(ScreenError(error)))
                finish(nil)
            }
        }
    }

    /// A screen cannot always disable its button. What is wrong with a photo is said beside it.
    private func report(_ error: ScreenError) {
        if case .failed = photo, !trimmedName.isEmpty, error.limits.isEmpty { return }
        if phase != .loading { phase = .failed(error) }
    }

    package func cancel() {
        guard phase == .loading else { return }
        login.cancel()
        end(.idle)
        finish(nil)
    }

    func close() {
        picking.cancel()
        uploaded = nil
    }

    /// Progress arrives from any thread, and its tasks in any order.
    private func show(_ part: Double, of ticket: ModelCall.Ticket) {
        guard ticket.isCurrent, let uploaded else { return }
        self.uploaded = max(uploaded, min(1, part))
    }

    private func end(_ phase: LoadPhase) {
        uploaded = nil
        self.phase = phase
    }
}
