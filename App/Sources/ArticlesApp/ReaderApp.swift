#if canImport(SwiftUI)
import ArticlesUI
import Composition
import DataAPI
import Foundation
public import SwiftUI

/// The application for Apple platforms. An Xcode project has a target whose only source starts it:
///
/// ```swift
/// import ArticlesApp
///
/// @main enum Main {
///     static func main() { ReaderApp.main() }
/// }
/// ```
public struct ReaderApp: App {
    private enum Start {
        case app(AppModel)
        case failed(String)
    }

    @State private var start: Start

    /// Creates the application from the configuration of the process. Nothing is read or sent yet.
    public init() {
        _start = State(initialValue: Self.make())
    }

    /// The only window.
    public var body: some Scene {
        WindowGroup {
            switch start {
            case .app(let app): AppView(app)
            case .failed(let reason): Text(reason).padding()
            }
        }
    }

    private static func make() -> Start {
        do {
            var configuration = try AppConfiguration.read()
            #if canImport(Security)
            configuration.store = .keychain(service: Self.service, accessGroup: Self.accessGroup)
            #endif
            let folder = URL.cachesDirectory.appendingPathComponent(AppConfiguration.applicationName)
            let services = ScreenServices(
                AppGraph(configuration), identity: SystemIdentityTokens(), cache: FileArticleCache(folder: folder))
            return .app(AppModel(services: services))
        } catch {
            return .failed("\(error)")
        }
    }

    /// The service of the session's item in the Keychain.
    private static var service: String { Bundle.main.bundleIdentifier ?? AppConfiguration.applicationName }

    /// The Keychain access group, from the Info.plist. `nil`: the application's own.
    private static var accessGroup: String? {
        Bundle.main.object(forInfoDictionaryKey: "LatchkeyAccessGroup") as? String
    }
}
#endif
