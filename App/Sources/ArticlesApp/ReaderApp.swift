#if canImport(SwiftUI)
import ArticlesUI
import Composition
import DataAPI
import Foundation
public import SwiftUI

/// The application for Apple platforms. The only source of the Xcode project in `App/Xcode` starts it.
public struct ReaderApp: App {
    private enum Start {
        case app(AppModel, ScreenServices)
        case failed(String)
    }

    @State private var start: Start
    @Environment(\.scenePhase) private var phase

    /// Creates the application from the configuration of the process. Nothing is read or sent yet.
    public init() {
        _start = State(initialValue: Self.make())
    }

    /// The only window. On iOS the system may run ``BackgroundRefresh`` while it is not shown.
    public var body: some Scene {
        #if os(iOS)
        window
            .backgroundTask(.appRefresh(BackgroundRefresh.identifier)) { [start] in
                BackgroundRefresh.schedule()
                if case .app(_, let services) = start { await BackgroundRefresh(services: services).run() }
            }
            .onChange(of: phase) { _, phase in
                if phase == .background { BackgroundRefresh.schedule() }
            }
        #else
        window
        #endif
    }

    private var window: some Scene {
        WindowGroup {
            switch start {
            case .app(let app, _): AppView(app)
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
            configuration.cacheFolder = URL.cachesDirectory.appendingPathComponent(AppConfiguration.applicationName)
            let graph = AppGraph(configuration, cache: configuration.makeCache())
            let services = ScreenServices(graph, identity: SystemIdentityTokens())
            return .app(AppModel(services: services), services)
        } catch {
            return .failed("\(error)")
        }
    }

    private static var service: String { Bundle.main.bundleIdentifier ?? AppConfiguration.applicationName }

    /// The Keychain access group, from the Info.plist. `nil`: the application's own.
    private static var accessGroup: String? {
        Bundle.main.object(forInfoDictionaryKey: "LatchkeyAccessGroup") as? String
    }
}
#endif
