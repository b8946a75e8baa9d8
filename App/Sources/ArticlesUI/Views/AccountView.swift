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
#endif
