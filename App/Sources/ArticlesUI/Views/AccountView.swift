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
            Section {
                Text(strings(.accountHint))
                if main.upgrade.phase == .loaded {
                    Label(strings(.accountKept), systemImage: "checkmark.circle")
                } else {
                    ProviderButtons(login: main.upgrade)
                }
            }
        }
        .navigationTitle(strings(.account))
    }
}
#endif
