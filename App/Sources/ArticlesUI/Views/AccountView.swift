#if canImport(SwiftUI)
import DataAPI
import SwiftUI

/// The account of the user: a guest can keep it with an identity provider.
struct AccountView: View {
    let main: MainModel
    @Environment(\.strings) private var strings

    var body: some View {
        Form {
            if let user = main.user { Section(strings(.name)) { Text(user.name) } }
            if main.upgrade.phase == .loaded {
                Section { Label(strings(.accountKept), systemImage: "checkmark.circle") }
            } else if !main.upgrade.providers.isEmpty {
                Section {
                    Text(strings(.accountHint))
                    ProviderButtons(login: main.upgrade)
                }
            }
        }
        .navigationTitle(strings(.account))
    }
}

/// The providers, and the login with one of them that is under way.
struct ProviderButtons: View {
    let login: ProviderLoginModel
    @Environment(\.strings) private var strings

    var body: some View {
        ForEach(login.providers, id: \.self) { provider in
            Button(strings.label(for: provider)) { Task { await login.signIn(with: provider) } }
                .disabled(login.provider != nil)
        }
        if login.provider != nil {
            ProgressView(strings(.signingIn))
            Button(strings(.cancel), role: .cancel) { login.cancel() }
        }
        if let error = login.phase.error { ErrorText(error: error) }
    }
}
#endif
