#if canImport(SwiftUI)
package import SwiftUI

/// The application: the screens of the launch, the login or a session, and the alert when a session ends.
package struct AppView: View {
    @Bindable private var app: AppModel
    @Environment(\.strings) private var strings

    package init(_ app: AppModel) {
        self.app = app
    }

    package var body: some View {
        screen
            .task { await app.run() }
            .alert(strings(.sessionEnded), isPresented: isAlertPresented, presenting: app.alert) { _ in
                Button(strings(.dismiss)) { app.dismissAlert() }
            } message: { alert in
                Text("\(strings.message(for: alert)) \(strings.details(of: alert.reason) ?? "")")
            }
    }

    @ViewBuilder private var screen: some View {
        switch app.root {
        case .splash(let splash): SplashView(splash: splash)
        case .signIn(let login): SignInView(login: login)
        case .main(let main):
            MainView(main: main, app: app)
                // Another session has other views, so that no state of a view outlives its user.
                .id(main.session)
        }
    }

    private var isAlertPresented: Binding<Bool> {
        Binding {
            app.alert != nil
        } set: { isPresented in
            if !isPresented { app.dismissAlert() }
        }
    }
}

struct SplashView: View {
    let splash: SplashModel
    @Environment(\.strings) private var strings

    var body: some View {
        if let error = splash.phase.error {
            ErrorView(title: strings(.launchFailed), error: error) { Task { await splash.launch() } }
        } else {
            ProgressView(strings(.launching))
        }
    }
}

/// What went wrong, and a button that tries again.
struct ErrorView: View {
    let title: String?
    let error: ScreenError
    let retry: () -> Void
    @Environment(\.strings) private var strings

    var body: some View {
        VStack(spacing: 16) {
            if let title { Text(title).font(.headline).accessibilityAddTraits(.isHeader) }
            ErrorText(error: error)
            Button(strings(.retry), action: retry).buttonStyle(.borderedProminent)
        }
        .padding()
        .multilineTextAlignment(.center)
        .frame(maxWidth: .infinity, maxHeight: .infinity)
    }
}

/// The text of an error. VoiceOver reads it with the word for a failure of its screen, not as a colour.
struct ErrorText: View {
    let error: ScreenError
    @Environment(\.strings) private var strings

    var body: some View {
        Label(strings.message(for: error), systemImage: "exclamationmark.triangle")
            .font(.callout)
            .foregroundStyle(.secondary)
            .accessibilityElement(children: .combine)
    }
}

extension EnvironmentValues {
    @Entry package var strings = Strings.current
}
#endif
