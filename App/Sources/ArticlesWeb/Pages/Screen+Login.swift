import ArticlesUI
import DataAPI
import Foundation

extension Screen {
    private struct Launch {
        let error: String?
    }

    /// The screen of the launch.
    @MainActor
    static func launch(_ splash: SplashModel, _ strings: Strings) -> Screen {
        Screen(
            template: "launch", regions: ["launch": "launch-state"], title: strings(.launching),
            content: Launch(error: splash.phase.error.map(strings.message)), isBusy: splash.phase.error == nil)
    }

    private struct Alert {
        let text: String
        let details: String?
    }

    /// A button of an identity provider.
    private struct Provider {
        let name: String
        let label: String

        init(_ provider: SocialProvider, _ strings: Strings) {
            name = provider.rawValue
            label = strings.label(for: provider)
        }
    }

    private struct SignIn {
        let alert: Alert?
        let notice: String?
        let signOutError: String?
        let name: String
        let isPreparing: Bool
        let isPhotoReady: Bool
        let photoError: String?
        let preview: String?
        let guestError: String?
        let isUploading: Bool
        let percent: Int
        let uploadText: String
        let socialError: String?
        let isSigningIn: Bool
        let providers: [Provider]
    }

    /// The login screen, with the alert of a session that has ended.
    @MainActor
    static func signIn(_ login: SignInModel, _ alert: SessionEndAlert?, _ strings: Strings) -> Screen {
        let (guest, social) = (login.guest, login.social)
        let part = guest.uploaded ?? 0
        let content = SignIn(
            alert: alert.map { Alert(text: strings.message(for: $0), details: strings.details(of: $0.reason)) },
            notice: alert == nil ? strings.explanation(of: login.reason) : nil,
            signOutError: login.signOutError.map(strings.message),
            name: guest.name,
            isPreparing: guest.photo == .preparing,
            isPhotoReady: guest.photo.prepared != nil,
            photoError: guest.photo.error.map(strings.message),
            // A hash of the content makes the browser load another picture.
            preview: guest.photo.prepared.map { "/sign-in/photo?v=\(UInt(bitPattern: $0.hashValue))" },
            guestError: guest.phase.error.map(strings.message),
            isUploading: guest.phase == .loading,
            percent: Int(part * 100),
            uploadText: strings.percentage(part),
            socialError: social.phase.error.map(strings.message),
            isSigningIn: social.provider != nil,
            providers: social.providers.map { Provider($0, strings) })
        let regions = [
            "alert": "alert", "notice": "notice", "photo-preview": "photo-preview", "photo-state": "photo-state",
            "guest-state": "guest-state", "social-state": "social-state",
        ]
        return Screen(
            template: "sign-in", regions: regions, title: strings(.signIn), content: content,
            isBusy: content.isUploading || content.isPreparing || content.isSigningIn)
    }

    private struct Account {
        struct Person {
            let name: String
            let photo: String?
        }

        let person: Person?
        let isKept: Bool
        let isSigningIn: Bool
        let error: String?
        let providers: [Provider]
    }

    /// The account, which a guest can keep with a provider.
    @MainActor
    static func account(_ main: MainModel, _ strings: Strings) -> Screen {
        let upgrade = main.upgrade
        // A hash of the content makes the browser load another picture.
        let photo = main.photo.map { "/account/photo?v=\(UInt(bitPattern: $0.hashValue))" }
        let content = Account(
            person: main.user.map { Account.Person(name: $0.name, photo: photo) }, isKept: upgrade.phase == .loaded,
            isSigningIn: upgrade.provider != nil,
            error: upgrade.phase.error.map(strings.message),
            providers: upgrade.providers.map { Provider($0, strings) })
        return Screen(
            template: "account", regions: ["person": "person", "account-state": "account-state"],
            title: strings(.account),
            content: content, isBusy: content.isSigningIn)
    }
}

extension GuestLoginModel.Photo {
    /// The photo as it is uploaded.
    var prepared: Data? { if case .ready(let data) = self { data } else { nil } }

    /// Why the photo cannot be used.
    var error: ScreenError? { if case .failed(let error) = self { error } else { nil } }
}
