#if canImport(SwiftUI)
import DataAPI
import SwiftUI

/// The account of the user: a guest can keep it with an identity provider.
struct AccountView: View {
    let main: MainModel
    @Environment(\.strings) private var strings

    private var upgrade: UpgradeModel { main.upgrade }

    var body: some View {
        Form {
            if let user = main.user { Section(strings(.name)) { Text(user.name) } }
            Section {
                Text(strings(.accountHint))
                if upgrade.phase == .loaded {
                    Label(strings(.accountKept), systemImage: "checkmark.circle")
                } else {
                    ForEach(upgrade.providers, id: \.self) { provider in
                        Button(strings.label(for: provider)) { Task { await upgrade.upgrade(with: provider) } }
                            .disabled(upgrade.provider != nil)
                    }
                }
                if upgrade.provider != nil {
                    ProgressView(strings(.signingIn))
                    Button(strings(.cancel), role: .cancel) { upgrade.cancel() }
                }
                if let error = upgrade.phase.error { ErrorText(error: error) }
            }
        }
        .navigationTitle(strings(.account))
    }
}
#endif
