#if canImport(SwiftUI) && canImport(PhotosUI)
import DataAPI
import PhotosUI
import SwiftUI
import struct Foundation.Data

/// The login: a guest with a photo, or an identity provider.
struct SignInView: View {
    let login: SignInModel
    @Environment(\.strings) private var strings

    var body: some View {
        NavigationStack {
            Form {
                if let text = strings.explanation(of: login.reason) {
                    Section { Text(text) }
                }
                if let error = login.signOutError {
                    Section {
                        Text(strings(.signOutIncomplete))
                        ErrorText(error: error)
                    }
                }
                GuestSection(guest: login.guest)
                Section { ProviderButtons(login: login.social) }
            }
            .navigationTitle(strings(.signIn))
        }
    }
}

private struct GuestSection: View {
    @Bindable var guest: GuestLoginModel
    @State private var item: PhotosPickerItem?
    @Environment(\.strings) private var strings

    var body: some View {
        Section(strings(.signInAsGuest)) {
            TextField(strings(.name), text: $guest.name)
                .textContentType(.name)
            PhotosPicker(strings(.pickPhoto), selection: $item, matching: .images)
                .onChange(of: item) { _, item in
                    guard let item else { return }
                    Task { await guest.pick { try await item.loadTransferable(type: Data.self) } }
                }
            photo
            if let uploaded = guest.uploaded {
                ProgressView(value: uploaded) { Text(strings.percentage(uploaded)) }
                    .accessibilityValue(strings.percentage(uploaded))
                Button(strings(.cancel), role: .cancel) { guest.cancel() }
            } else {
                Button(strings(.register)) { Task { await guest.submit() } }
                    .disabled(!guest.canSubmit)
            }
            if let error = guest.phase.error { ErrorText(error: error) }
        }
    }

    @ViewBuilder private var photo: some View {
        switch guest.photo {
        case .none: EmptyView()
        case .preparing: ProgressView(strings(.preparingPhoto))
        case .ready: Label(strings(.photoReady), systemImage: "checkmark.circle")
        case .failed(let error): ErrorText(error: error)
        }
    }
}
#endif
